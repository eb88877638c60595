/** How much room the embedded database has. */
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Disk } from '../application/ports.ts';
import { readDatabaseUrl } from './sql/database-url.ts';

/** @param url Of the database: nobody knows the disk of a server. */
export function diskOf(url: string): Disk {
  const read = readDatabaseUrl(url);
  if (!('file' in read)) return async () => null;
  const folder = path.dirname(path.resolve(read.file));
  return async () => {
    try {
      const { bavail, blocks, bsize } = await statfs(folder);
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    } catch {
      // It may be away itself: then the store says so.
      return null;
    }
  };
}
