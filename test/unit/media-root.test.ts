/** What a missing input is to the one who asks for it. */
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputUnavailableError } from '@soda-scheduler/executor-sdk';
import { MediaRoot } from '../../examples/media/media-root.ts';

describe('the media root', () => {
  it('says of an input that is not there that it is unavailable, and of no other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'soda-media-'));
    try {
      mkdirSync(join(folder, 'root/folder'), { recursive: true });
      const root = await MediaRoot.open(join(folder, 'root'));
      const failure = (path: string) => root.input(path).catch((error: unknown) => error);
      expect(await failure('gone.mp4')).to.be.instanceOf(InputUnavailableError);
      for (const path of ['folder', '../gone.mp4']) {
        expect(await failure(path), path).not.to.be.instanceOf(InputUnavailableError);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
