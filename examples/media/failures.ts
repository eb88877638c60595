/**
 * Says what went wrong in words that help, and whether another attempt can. What lies with the
 * request or the input is not retried; what lies with the machine or is unknown is.
 */
import { NonRetryableError, RetryableError } from '@soda-scheduler/executor-sdk';
import { DiskFullError, isFullDisk } from '../storage/disk.ts';
import { TAKEN_CONTAINERS } from './input-guard.ts';

const DISK_FULL = 'there is no space left on the disk of the media root';

export function isFsError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

export function describeFsError(error: unknown, what: string): unknown {
  if (['EACCES', 'EPERM', 'EROFS'].some((code) => isFsError(error, code))) {
    return notPermitted(what);
  }
  if (['ENOTDIR', 'EEXIST', 'ENAMETOOLONG', 'ELOOP'].some((code) => isFsError(error, code))) {
    return new NonRetryableError(`${what} is not a usable path`);
  }
  if (isFullDisk(error)) return diskFull(what);
  return error;
}

/** `log` is the end of what ffmpeg wrote to stderr. */
export function describeFfmpegFailure(what: string, exit: string, log: string): Error {
  if (/No space left on device|Disk quota exceeded/.test(log)) return diskFull(what);
  if (/Permission denied/.test(log)) return notPermitted(what);
  // Addresses differ from run to run: without them equal failures read the same.
  const lines = log
    .replaceAll(/ @ 0x[0-9a-f]+/g, '')
    .trim()
    .split(/[\r\n]+/);
  const reason = lines
    .slice(-5)
    .map((line) => line.slice(0, 300))
    .join('\n');
  const message = `${what}: ffmpeg ${exit}${reason === '' ? '' : `\n${reason}`}`;
  if (/not on whitelist/i.test(log)) {
    return new NonRetryableError(
      `${what}: this kind of file is refused. Taken are video and sound in ${TAKEN_CONTAINERS}; ` +
        'not stills, playlists or files that name other files.',
    );
  }
  const hopeless = /Unknown encoder|Invalid data found when processing input|moov atom not found/;
  return hopeless.test(log) ? new NonRetryableError(message) : new RetryableError(message);
}

function notPermitted(what: string): Error {
  return new NonRetryableError(`${what}: the executor has no permission for it`);
}

export function diskFull(what: string): Error {
  return new DiskFullError(`${what}: ${DISK_FULL}`);
}
