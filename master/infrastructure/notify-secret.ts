/** The secret that signs callbacks, where the configuration names none: made once, then kept. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

const FILE_NAME = 'notify-secret';
const SECRET_BYTES = 32;

/**
 * A `whsec_` secret from the data directory. Two masters that start at
 * once get the same one.
 * @throws where the directory cannot be written, or the file holds something else.
 */
export function keepNotifySecret(dataDir: string): string {
  const file = path.join(dataDir, FILE_NAME);
  const kept = readIfThere(file);
  if (kept !== null) return kept;

  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    writeDurably(draft, `whsec_${randomBytes(SECRET_BYTES).toString('base64')}\n`);
    // A link, not a rename: it fails where another process was first, and it is never half written.
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readIfThere(file) ?? keepNotifySecret(dataDir);
}

function readIfThere(file: string): string | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(text)) return text;
  throw new Error(`${file} does not hold a whsec_ secret. Remove it to have a new one made.`);
}

function writeDurably(file: string, text: string): void {
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    writeSync(descriptor, text, 0);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
