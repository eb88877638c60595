/** A minute of load that is written in part, or not at all: what it leaves behind, and what the next one makes good. */
import { expect } from 'chai';
import { Duties } from '../../../master/application/process/duties.ts';
import { loadMinutes } from '../../../master/application/process/load.ts';
import type { LoadSamples } from '../../../master/application/reports/load-query.ts';
import { LoadCounter } from '../../../master/domain/load/counter.ts';
import { ALL_TYPES } from '../../../master/domain/load/figures.ts';
import { createState } from '../../../master/domain/state/state.ts';
import type { Database } from '../../../master/infrastructure/sql/database.ts';
import { LoadRows } from '../../../master/infrastructure/sql/load/load-rows.ts';
import { ManualClock, settled } from '../../helpers/manual-clock.ts';
import { NOW, sampleTask, testPolicy } from '../../helpers/task.ts';

const MINUTE_MS = 60_000;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

describe('a minute of load', () => {
  it('has its sum last: without it nobody knows of the minute', async () => {
    const transactions: string[][] = [];
    const dialect = {
      begin: 'BEGIN',
      add: (_table: string, _key: unknown, _sums: unknown, rows: unknown[][]) => {
        transactions.push(rows.map((row) => String(row[2])));
        return [];
      },
      run: () => Promise.resolve([]),
    };
    const database = {
      dialect,
      aside: (work: () => unknown) => work(),
      transaction: (work: (connection: object) => unknown) => work({}),
    } as unknown as Database;
    const types = [ALL_TYPES, ...Array.from({ length: 150 }, (_, at) => `t-${at}`)];
    const samples = types.map((type) => ({ type, load: { samples: 1 } }));
    const both = [0, 1].map((namespaceId) => ({ namespaceId, samples }));
    await new LoadRows(database).add(NOW, both);
    expect(transactions).to.have.length.above(2);
    const last = transactions.pop() ?? [];
    expect(last.filter((type) => type === ALL_TYPES)).to.have.length(2 * 3);
    expect(transactions.flat()).not.to.include(ALL_TYPES);
  });

  it('that was not written leaves to the next one when each type was started and ended last', async () => {
    const clock = new ManualClock();
    const state = createState({ policy: testPolicy, term: 1, lastSeq: 0, now: NOW, seed: 1 });
    const load = new LoadCounter();
    const leader = { watched: { namespaceId: 0, load }, engine: { state } };
    const written: (readonly LoadSamples[])[] = [];
    let isAway = true;
    const addLoad = (_at: number, of: readonly LoadSamples[]) => {
      if (isAway) return Promise.reject(new Error('away'));
      written.push(of);
      return Promise.resolve();
    };
    const part = loadMinutes({
      ...{ leaders: () => [leader], clock, log: quiet, duties: new Duties(clock) },
      ask: (question) => question({ addLoad }),
    });
    void part.start();
    const task = sampleTask({
      type: 'encode',
      startedAt: NOW,
      finishedAt: NOW + 7,
      state: 'failed',
    });
    load.note({ event: 'task_started', task, waitedMs: 5 });
    load.note({ event: 'task_finished', task });
    await clock.pass(MINUTE_MS);
    isAway = false;
    await clock.pass(MINUTE_MS);
    await settled();
    expect(written).to.have.length(1);
    const [, encode] = written[0]?.[0]?.samples ?? [];
    const last = { last_started_at: NOW, last_ended_at: NOW + 7 };
    expect(encode).to.deep.equal({ type: 'encode', load: last });
    await part.stop();
  });
});
