/** How far a task is, in words and bars for people. */
import type { TaskView } from '@soda-scheduler/client';

type Progress = TaskView['progress'];
type Part = NonNullable<NonNullable<Progress>['parts']>[number];

/** What it says is of an attempt before: the newest has not said anything yet. */
export function isOfEarlier(task: TaskView): boolean {
  const { state, progress, started_at: since, finished_at: end } = task;
  if (!progress || end !== null) return false;
  return since === null ? state !== 'running' : Date.parse(progress.at) < Date.parse(since);
}

/** To a tenth: what is behind it is noise of the arithmetic. */
export function rounded(percent: number | null): number | null {
  return percent === null ? null : Math.round(percent * 10) / 10;
}

function percentOf(progress: Progress): string | null {
  const percent = rounded(progress?.percent ?? null);
  return percent === null ? null : `${percent} %`;
}

/** `43.2 %, 1.8x, about 4 min left`; `hasBar`: the percentage stands beside it. Null: nothing is known. */
export function progressInWords(task: TaskView, now: number, hasBar = false): string | null {
  const progress = isOfEarlier(task) ? null : task.progress;
  const parts = progress?.parts;
  const isOver = task.finished_at !== null;
  const words = [
    hasBar ? null : percentOf(progress),
    parts === undefined ? null : `${doneCount(parts)} of ${parts.length} done`,
    isOver || progress?.speed === undefined ? null : speedInWords(progress.speed),
    isOver ? null : timeLeft(progress, now),
  ].filter((word) => word !== null);
  return words.length === 0 ? null : words.join(', ');
}

export function doneCount(parts: readonly Part[]): number {
  return parts.filter(isDone).length;
}

function isDone({ percent }: Part): boolean {
  return percent >= 100;
}

function speedInWords(speed: number): string {
  return `${speed < 10 ? Math.round(speed * 100) / 100 : Math.round(speed)}x`;
}

/** By the executor's word; else by that of the master, with its band. */
function timeLeft(progress: Progress, now: number): string | null {
  if (!progress) return null;
  const { eta_seconds: seconds, at, estimate } = progress;
  if (seconds !== undefined) {
    return `${duration(Math.max(0, Date.parse(at) + seconds * 1000 - now))} left`;
  }
  if (estimate === undefined) return null;
  const [low, likely, high] = [estimate.low, estimate.end_at, estimate.high].map((end) =>
    duration(Math.max(0, Date.parse(end) - now)),
  );
  return low === high ? `about ${likely} left` : `about ${likely} left (${low} to ${high})`;
}

/** `2 h 05 min`, `4 min`, `12 s`: as much as an estimate is good for. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

const BAR_WIDTH = 24;

/** `██████░░░░░░`. */
function barOf(percent: number): string {
  const full = Math.floor((Math.min(100, Math.max(0, percent)) / 100) * BAR_WIDTH);
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
}

/** Where there is no room for all, from the first that is not done. */
export function shownParts(parts: readonly Part[], countMax: number): readonly Part[] {
  const first = parts.findIndex((part) => !isDone(part));
  const from = Math.min(first < 0 ? parts.length : first, parts.length - countMax);
  return parts.slice(Math.max(0, from)).slice(0, countMax);
}

/** `██████████░░░░░░  62.5 %  720p.mp4`. */
export function partLine(part: Part): string {
  return `${barOf(part.percent)} ${`${rounded(part.percent)} %`.padStart(6)}  ${part.name}`;
}
