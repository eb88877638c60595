/**
 * Removes what tasks have left that never run again: their folders in `.soda~work`, and the files and folders that they were
 * making beside their targets. Nobody says that a task is over when no executor has it any more; so it goes by age.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { WorkFolder } from '../media/attempt/work-folder.ts';
import type { MediaRoot } from '../media/media-root.ts';
import { bringBackFolder, removeLeftovers, type TaskKey } from './outputs.ts';

const TARGETS = 'targets.json';
/** Of folders that are being removed. */
const GOING = '.going~';

const noted = z.object({ files: z.array(z.string()), folder: z.string().nullable() });

export interface Beside {
  readonly files: readonly string[];
  readonly folder: string | null;
}

/** Notes what an attempt makes something beside, before it does: in the folder of the task, which goes with it. */
export async function noteTargets(folder: WorkFolder, beside: Beside): Promise<void> {
  await mkdir(folder.path, { recursive: true });
  await writeFile(folder.file(TARGETS), JSON.stringify(beside));
}

/**
 * Resolves to the names of the tasks whose folders were removed: nobody has used them for `unusedMs`. A task that runs uses
 * its folder, and one that comes again later makes everything anew. What cannot be removed is told, and keeps nothing else.
 */
export async function sweep(
  mediaRoot: MediaRoot,
  unusedMs: number,
  onFailure: (error: unknown) => void,
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of await readdir(mediaRoot.workFolders).catch(() => [])) {
    try {
      const id = await sweepOne(mediaRoot, name, unusedMs);
      if (id !== null) removed.push(id);
    } catch (error) {
      onFailure(error);
    }
  }
  return removed;
}

/** Resolves to the name of the task whose folder it has taken and removed. */
async function sweepOne(mediaRoot: MediaRoot, name: string, unusedMs: number) {
  const root = mediaRoot.workFolders;
  const path = join(root, name);
  const isGoing = name.startsWith(GOING);
  const taskName = isGoing ? name.slice(GOING.length).replace(/^\d+~/, '') : name;
  const [namespace = '', id, ...more] = taskName.split('~');
  if (id === undefined || more.length > 0 || !(await isUnused(path, unusedMs))) return null;
  // At once, so that an attempt that begins now does not find half of it. What is going already was left by a sweep that died.
  const going = isGoing ? path : join(root, `${GOING}${process.pid}~${name}`);
  if (!isGoing && !(await takeAside(path, going, unusedMs))) return null;
  // An attempt that has begun since looks after what is beside its targets.
  if (!existsSync(join(root, taskName))) await removeBeside(mediaRoot, going, { namespace, id });
  await rm(going, { recursive: true, force: true });
  return isGoing ? null : id;
}

async function isUnused(path: string, unusedMs: number): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs >= unusedMs;
}

/** False where an attempt has begun to use it by now, which gets it back, or another executor was faster. */
export async function takeAside(path: string, going: string, unusedMs: number): Promise<boolean> {
  try {
    await rename(path, going);
    if (await isUnused(going, unusedMs)) return true;
    await rename(going, path);
  } catch {
    // It is gone, or the attempt has made a new one meanwhile.
  }
  return false;
}

async function removeBeside(mediaRoot: MediaRoot, path: string, task: TaskKey): Promise<void> {
  const text = await readFile(join(path, TARGETS), 'utf8').catch(() => 'null');
  const beside = noted.nullable().catch(null).parse(jsonIn(text));
  if (beside === null) return;
  const isOurs = (target: string) => mediaRoot.holds(target);
  if (beside.folder !== null && isOurs(beside.folder)) await bringBackFolder(beside.folder, task);
  const targets = [...beside.files, ...(beside.folder === null ? [] : [beside.folder])];
  // Its directory may be gone.
  await removeLeftovers(targets.filter(isOurs), task).catch(() => undefined);
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
