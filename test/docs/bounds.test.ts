/** The page for operators names every bound that the metrics show, with its limit. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { loadConfig, runMaster } from '@soda-scheduler/master';
import { expect } from 'chai';
import { root } from './document.ts';

describe('the bounds of the master', () => {
  it('stand in the page as the metrics have them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'soda-bounds-'));
    const outcome = loadConfig({ env: { SODA_PORT: '0', SODA_DATA_DIR: folder }, flags: {} });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('\n'));
    const master = await runMaster(outcome.config, { logTo: new PassThrough().resume() });
    const text = await (await fetch(`${master.url}/metrics`)).text();
    await master.stop();
    rmSync(folder, { recursive: true });
    const limits = text.matchAll(/^scheduler_bound_limit\{bound="(\w+)"\} (\S+)$/gm);
    const shown = [...limits].map(([, bound = '', limit]) => `${bound}: ${words(bound, limit)}`);

    const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
    const [, section = ''] = page.split('\n### Bounds\n');
    const rows = (section.split(/\n##+ /)[0] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const told = rows.flatMap((row) => {
      const [, names = '', limit = ''] = row.split('|').map((cell) => cell.trim());
      return [...names.matchAll(/`(\w+)`/g)].map(([, bound]) => `${bound}: ${limit}`);
    });
    expect(shown.sort()).to.deep.equal(told.sort());
  });
});

/** As the page writes it. */
function words(bound: string, limit: string | undefined): string {
  const value = Number(limit);
  if (bound.endsWith('_bytes')) return `${value / 2 ** 20} MiB`;
  return value.toLocaleString('en');
}
