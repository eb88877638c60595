/** A reader of the feed and its master, killed again and again: no event is missing, and none is there twice but by its number. */
import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import { submitAllTheTime } from '../helpers/system/load.ts';
import type { SystemProcess } from '../helpers/system/process.ts';
import { describeOnEither, type System } from '../helpers/system/system.ts';
import { eventually } from '../helpers/system/wait.ts';

const SODA = fileURLToPath(new URL('../../cli/bin/soda.js', import.meta.url));
const KILL_COUNT = 3;
/** A reader saves where it is after so many events: what comes after that it is told again. */
const SAVED_EACH = 10;

/** What a program keeps that follows the feed: whole lines by their numbers, and how far it has got. */
class Reading {
  /** As they were told first. */
  readonly told = new Map<number, string>();
  againCount = 0;
  readonly wrong: string[] = [];
  #savedSeq = 0;

  /** A process of its own, from what was saved last. */
  start(system: System): SystemProcess {
    const args = [SODA, 'events', '--follow', '--json', '--after', String(this.#savedSeq)];
    let previous = this.#savedSeq;
    return system.spawn('reader', args, { SODA_URL: system.url }, ({ text, fields }) => {
      const seq = Number(fields['seq']);
      // It may end within a line.
      if (!Number.isInteger(seq)) return;
      if (seq !== previous + 1) this.wrong.push(`a gap from ${previous} to ${seq}`);
      previous = seq;
      const before = this.told.get(seq);
      if (before === undefined) this.told.set(seq, text);
      else if (before === text) this.againCount += 1;
      else this.wrong.push(`another event of its number: ${text}`);
      if (seq % SAVED_EACH === 0) this.#savedSeq = seq;
    });
  }

  async comesOn(count: number): Promise<void> {
    const { size } = this.told;
    await eventually(`${count} more events`, () => this.told.size >= size + count);
  }
}

describeOnEither('the feed', ({ start }) => {
  it('has no gap and no unknown duplicate for a reader that is killed as its master is', async () => {
    const system = await start();
    await system.executor({ id: 'a' });
    const load = submitAllTheTime(system, { type: 'work' }, 1);
    const reading = new Reading();
    let reader = reading.start(system);
    for (let kill = 0; kill < KILL_COUNT; kill++) {
      await reading.comesOn(25);
      await reader.end('SIGKILL');
      reader = reading.start(system);
      await reading.comesOn(25);
      await system.master.end('SIGKILL');
      await system.startMaster();
    }
    await reading.comesOn(25);
    await load.stop();
    for (const taskId of load.accepted) await system.ended(taskId);

    const stored: string[] = [];
    for await (const event of system.client.events({}, { follow: false })) {
      stored.push(JSON.stringify(event));
    }
    await eventually('the reader is at the end', () => reading.told.has(stored.length));
    expect(reader.exit).to.equal(null);
    await reader.end('SIGKILL');
    expect(reading.wrong).to.deep.equal([]);
    expect([...reading.told.values()]).to.deep.equal(stored);
    expect(reading.againCount).to.be.above(0);
    const stories = new Map<string, string[]>();
    for (const text of stored) {
      const { task_id, kind } = JSON.parse(text) as { task_id?: string; kind: string };
      if (task_id !== undefined) stories.set(task_id, [...(stories.get(task_id) ?? []), kind]);
    }
    for (const taskId of load.accepted) {
      const ends = stories.get(taskId)?.filter((kind) => kind !== 'task.attempt_ended');
      expect(ends, taskId).to.deep.equal(['task.submitted', 'task.finished']);
    }
  });
});
