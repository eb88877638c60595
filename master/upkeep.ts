/** Puts together what is to be done at times: what keeps the database in bounds, and the clock right. */
import { endedTaskText } from './access/routes/views.ts';
import type { Clock, Log, Store } from './application/ports.ts';
import type { Duties } from './application/process/duties.ts';
import type { Part } from './application/process/lifecycle.ts';
import { type Loaded, loadMinutes } from './application/process/load.ts';
import type { Namespaces } from './application/process/namespaces.ts';
import type { Leader } from './application/process/leading.ts';
import { retention } from './application/process/retention.ts';
import { usageFold } from './application/process/usage.ts';
import { wallClockWatch } from './application/process/wall-clock.ts';
import type { Config } from './config.ts';
import { ArchiveFiles } from './infrastructure/archive/archive-files.ts';
import { createClock } from './infrastructure/system.ts';

export function upkeep(
  parts: {
    readonly store: Store;
    readonly clock: Clock;
    readonly namespaces: Pick<Namespaces<Leader & Loaded>, 'ask' | 'followWall' | 'leaders'>;
    readonly duties: Duties;
  },
  config: Config,
  log: Log,
): Part[] {
  const { store, clock, namespaces, duties } = parts;
  const days = {
    short: config.retentionShortDays,
    normal: config.retentionDays,
    long: config.retentionLongDays,
  };
  const { archiveDir } = config;
  const archive =
    archiveDir === null ? null : new ArchiveFiles({ directory: archiveDir, textOf: endedTaskText });
  const follow = (): void => {
    clock.followWall();
    namespaces.followWall();
  };
  return [
    // By a clock that is never set: what a wrong one drops does not come back.
    retention({ ...config, store, clock: createClock(), log, duties, days, archive }),
    usageFold({ store, clock: createClock(), log, duties }),
    loadMinutes({
      leaders: () => namespaces.leaders,
      ask: (question) => namespaces.ask(question),
      ...{ clock, log, duties },
    }),
    wallClockWatch({ store, clock, log, duties, follow }),
  ];
}
