/**
 * `npm run -s sbom`: what is in the packages, as CycloneDX on standard output. It is what npm says of all that is installed,
 * without what only builds and tests them, by the lockfile: `--omit=dev` of npm leaves out whatever the root needs for its
 * tests, also where a package needs it to run.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application'];
const npm = spawnSync('npm', args, {
  encoding: 'utf8',
  maxBuffer: 2 ** 28,
  stdio: ['ignore', 'pipe', 'inherit'],
});
if (npm.status !== 0) process.exit(1);
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const all = JSON.parse(npm.stdout);
/** As npm refers to them there. */
const shipped = new Set(
  Object.entries(packages)
    .filter(([, { dev, devOptional, link }]) => !(dev || devOptional || link))
    .map(([path, { name, version }]) => `${name ?? path.split('node_modules/').at(-1)}@${version}`),
);
const components = all.components.filter((one) => shipped.has(one['bom-ref']));
const kept = new Set([
  all.metadata.component['bom-ref'],
  ...components.map((one) => one['bom-ref']),
]);
const dependencies = all.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));
process.stdout.write(`${JSON.stringify({ ...all, components, dependencies }, null, 2)}\n`);
