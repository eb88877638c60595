/** One input as frames, whatever its ffmpeg does. */
import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RawFormat } from '../../../examples/live-push/raw-format.ts';
import { Source, type SourceOptions } from '../../../examples/live-push/source.ts';

const format = new RawFormat('16x16', 10);

describe('an input', () => {
  let folder: string;
  const children: ChildProcess[] = [];
  const failures: string[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'soda-source-'));
    children.length = 0;
    failures.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Its ffmpeg brings two frames, and ends well. */
  function sourceOf(isLooped: boolean): Source {
    const ffmpeg = join(folder, 'ffmpeg');
    writeFileSync(ffmpeg, `#!/bin/sh\nhead -c ${2 * format.videoBytes} /dev/zero >&3\n`);
    chmodSync(ffmpeg, 0o755);
    const options = {
      ...{ isLooped, format, frameCount: null, ffmpeg, threads: null },
      input: {
        ...{ name: 'clip.mp4', path: '/clip.mp4', bytes: 1, isStill: false },
        media: { audio: null, video: { width: 16, height: 16 } },
      },
      spawn: (...[program, args, given]: Parameters<SourceOptions['spawn']>) => {
        const { stdio, env } = given ?? {};
        const child = spawn(program, args ?? [], { stdio: stdio ?? 'pipe', env: env ?? {} });
        children.push(child);
        return child;
      },
      onFailure: (why: string) => failures.push(why),
    };
    return new Source(options as unknown as SourceOptions);
  }

  /** Takes all that its ffmpeg has brought, once that has ended. */
  async function playedOut(source: Source): Promise<void> {
    await once(children.at(-1) as ChildProcess, 'close');
    expect([source.take(), source.take()]).not.to.include(null);
    expect(source.take()).to.equal(null);
  }

  it('that is looped begins anew also where its ffmpeg has ended well', async () => {
    const source = sourceOf(true);
    source.open(0, 0);
    await playedOut(source);
    source.watch(2, 1_000);
    expect(failures).to.deep.equal(['has ended, though it is looped']);
    source.watch(2, 1_000);
    expect(children).to.have.length(2);
    await playedOut(source);
    source.close();
  });

  it('that is shown once is over then', async () => {
    const source = sourceOf(false);
    source.open(0, 0);
    await playedOut(source);
    source.watch(2, 1_000);
    expect([source.isOver, failures, children.length]).to.deep.equal([true, [], 1]);
    source.close();
  });
});
