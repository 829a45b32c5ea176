// SPDX-License-Identifier: MIT
// Directus on as many processes as BENCH_PROCESSES says, all on one port (as a process manager would start them). Its own
// command-line program comes without the look for a newer version, which asks the network.
import cluster from 'node:cluster';

if (cluster.isPrimary && process.argv[2] === 'start') {
	cluster.on('exit', (worker, code) => process.exit(code || 1));
	for (let i = 0; i < Number(process.env.BENCH_PROCESSES); i++) cluster.fork();
} else {
	await import('@directus/api/cli/run.js');
}
