/** A task on a terminal: a bar of all of it, and below one for each of its parts, as far as there is room. */
import type { TaskView } from '@soda-scheduler/client';
import { MultiBar, Presets, type SingleBar } from 'cli-progress';
import { plain } from '../output.ts';
import { isOfEarlier, shownParts } from './progress-words.ts';

const PART_COUNT_MAX = 12;
/** Of the terminal: the bar of all of it, what was typed, and what comes after. */
const OTHER_LINES = 4;

export class TaskBars {
  readonly #bars = new MultiBar(
    {
      format: '{bar} {percentage}% {words}',
      barsize: 24,
      hideCursor: true,
      // Ctrl-C is dealt with by whoever waits; the bars must not end the process.
      gracefulExit: false,
      linewrap: false,
    },
    Presets.shades_classic,
  );
  readonly #whole = this.#bars.create(100, 0, { words: '' });
  #parts: SingleBar[] = [];

  /** `words`: beside the bar of all of it. */
  show(task: TaskView, words: string): void {
    const { state } = task;
    const progress = isOfEarlier(task) ? null : task.progress;
    const percent = state === 'succeeded' ? 100 : (progress?.percent ?? 0);
    this.#whole.update(percent, { words });
    const rows = Math.max(1, (process.stdout.rows ?? 24) - OTHER_LINES);
    const parts = shownParts(progress?.parts ?? [], Math.min(PART_COUNT_MAX, rows));
    // There may be others, or none, in the next attempt.
    while (this.#parts.length > parts.length) {
      const bar = this.#parts.pop();
      if (bar !== undefined) this.#bars.remove(bar);
    }
    for (const [index, part] of parts.entries()) {
      const named = { words: plain(part.name) };
      const bar = (this.#parts[index] ??= this.#bars.create(100, 0, named));
      bar.update(part.percent, named);
    }
  }

  /** Something else than how far it is. */
  say(words: string): void {
    this.#whole.update({ words });
  }

  stop(): void {
    this.#bars.stop();
  }
}
