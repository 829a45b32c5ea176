// SPDX-License-Identifier: MIT
// What a page of the tests gets as `clients`.
export * as tus from 'tus-js-client'
export { default as Uppy } from '@uppy/core'
export { default as Tus } from '@uppy/tus'
