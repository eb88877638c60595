/** What suites with the real ffmpeg begin with. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFfmpeg } from '../../../examples/media/binaries.ts';
import type { Prober } from '../../../examples/media/probe.ts';

/**
 * The ffmpeg of this machine, and a folder of the suite's own, which is gone after it. Without an ffmpeg the suite is skipped.
 * @param begin Makes what all of its tests need.
 */
export function mediaFolder(name: string, begin: (prober: Prober, root: string) => void): void {
  let root = '';
  before(async function () {
    const prober = await findFfmpeg(process.env).catch(() => null);
    if (prober === null) return this.skip();
    root = mkdtempSync(join(tmpdir(), `soda-${name}-`));
    begin(prober, root);
  });
  after(() => root && rmSync(root, { recursive: true }));
}
