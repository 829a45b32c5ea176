/* SPDX-License-Identifier: MIT */
/* The front page: leads to signing in. */
import { leadToSignIn } from "./page.js";

leadToSignIn();
