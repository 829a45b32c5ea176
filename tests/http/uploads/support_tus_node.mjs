// SPDX-License-Identifier: MIT
// tus-js-client as a program of Node uses it: what to do is one JSON text, what happened is one JSON text a line.
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { PassThrough } from 'node:stream'

const tus = createRequire(`${process.env.GATEHOUSE_TUS_CLIENTS}/`)('tus-js-client')
const order = JSON.parse(process.argv[2])
const tell = (what) => fs.writeSync(1, `${JSON.stringify(what)}\n`)

// Whoever waits like this sends nothing more, whatever is in its sockets.
const hang = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)

// Only of a stream that is no file the client says the length with the last piece.
const open = (path) => (order.deferred ? fs.createReadStream(path).pipe(new PassThrough()) : fs.createReadStream(path))

function prepare(path, number) {
  let id = null
  let first = null
  let acknowledged = null
  let stopped = false
  const upload = new tus.Upload(open(path), {
    endpoint: order.endpoint,
    headers: { Authorization: `Bearer ${order.token}` },
    metadata: { bucket: 'files', type: 'misc', filename: order.names[number] },
    chunkSize: order.chunkSize ?? Infinity,
    uploadDataDuringCreation: order.duringCreation ?? false,
    uploadLengthDeferred: order.deferred ?? false,
    overridePatchMethod: order.override ?? false,
    urlStorage: new tus.FileUrlStorage(order.storage),
    retryDelays: [0, 200, 1000, 3000],
    onAfterResponse: (_, response) => {
      id = response.getHeader('Upload-File-Id') || id
      const offset = response.getHeader('Upload-Offset')
      if (offset) acknowledged = Number(offset)
      first ??= acknowledged
    },
    onError: (error) => { tell({ error: String(error), status: error.originalResponse?.getStatus() }) },
    onSuccess: () => { tell({ id, url: upload.url, first }) },
    onProgress: async (sent) => {
      const reached = order.chunkSize ? acknowledged : sent
      if (stopped || order.stopAt == null || reached < order.stopAt) return
      stopped = true
      if (order.then === 'hang') {
        tell({ hanging: reached, url: upload.url })
        hang()
      }
      await upload.abort(order.then === 'terminate')
      tell({ aborted: reached, url: upload.url })
      if (order.then === 'go on') upload.start()
    },
  })
  return upload
}

for (const [number, path] of order.paths.entries()) {
  const upload = prepare(path, number)
  if (order.resume) {
    const [former] = await upload.findPreviousUploads()
    upload.resumeFromPreviousUpload(former)
  }
  upload.start()
}
