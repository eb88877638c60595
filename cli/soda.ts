/** The process `soda`. */
import { endWithReader } from './output.ts';
import { run } from './run.ts';

process.stdout.on('error', endWithReader);
process.exitCode = await run(process.argv);
