/** Whether tests can make media files, and have them made. */
import { spawnSync } from 'node:child_process';

export const FFMPEG_MISSING = spawnSync('ffmpeg', ['-version']).status !== 0;
