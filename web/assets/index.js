/* SPDX-License-Identifier: MIT */
import { leadToSignIn } from "./page.js";

leadToSignIn();
