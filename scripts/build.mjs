/**
 * `npm run build`: what `tsc` compiles, the console, the pages of the documentation, and `soda` once more in a few files, which it starts from in half the
 * time: Node takes longer to find, read and link a module than to run it. Arguments are projects for `tsc`; default: all.
 * The few are for the clone alone, in which `cli/bin/soda.js` looks for them; packages ship what `tsc` writes.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { buildConsole } from './console.mjs';
import { buildSite } from './site.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const tsc = ['node_modules/typescript/bin/tsc', '-b', ...process.argv.slice(2)];
// It is written in Go: in more memory it needs an eighth less time.
const env = { GOGC: '400', ...process.env };
const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit', env });
if (status === 0 && (await buildConsole())) {
  await buildSite();
  await bundleSoda();
} else process.exitCode = 1;

async function bundleSoda() {
  for (const folder of ['cli/dist', 'master/dist']) {
    const old = readdirSync(folder).filter((name) => name.endsWith('.bundle.js'));
    for (const name of old) rmSync(join(folder, name), { force: true });
  }
  // Each beside what it is made of, because both look for their package from there.
  const files = { 'cli/dist/soda': 'cli/dist/soda.js', 'master/dist/main': 'master/dist/main.js' };
  await bundle(files, {
    outdir: '.',
    outExtension: { '.js': '.bundle.js' },
    chunkNames: 'master/dist/[name]-[hash]',
    // Loaded with the first mail, by those who send any.
    external: ['nodemailer'],
  });
}
