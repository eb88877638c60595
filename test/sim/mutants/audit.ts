/** Bugs of the audit and of the feed, for `mutants.ts`. */
import type { Commit } from '../../../master/application/ports.ts';
import { everyNth, type Mutant, onStore } from '../actors/sabotage.ts';

const settings = { commandChance: 0.6 };

export function auditMutants(): Mutant[] {
  const now = everyNth(3);
  const onAudit = (change: (audit: NonNullable<Commit['audit']>) => Commit['audit']) =>
    onStore((store) => ({
      commit: (commit) => {
        const audit = commit.audit && change(commit.audit);
        return store.commit({ ...commit, ...(audit && { audit }) });
      },
    }));
  return [
    {
      name: 'leaves a change out of the audit now and then',
      settings,
      ...onAudit((audit) => audit.filter(() => !now())),
    },
    {
      name: 'writes the audit in a commit of its own',
      settings,
      ...onStore((store) => ({
        commit: async ({ audit, ...commit }) => {
          await store.commit(commit);
          if (audit === undefined) return;
          await store.commit({ ...commit, writes: [], absences: [], audit });
        },
      })),
    },
    {
      name: 'tells in the audit what is after a change as what was before',
      settings,
      ...onAudit((audit) =>
        audit.map((one) => {
          const { before, after } = one.record;
          return { ...one, record: { ...one.record, before: after, after: before } };
        }),
      ),
    },
    {
      name: 'tells of a commit with the next one',
      ...onStore((store) => {
        let events: NonNullable<Commit['events']> = [];
        return {
          commit: ({ events: told = [], ...commit }) => {
            const before = events;
            events = told;
            return store.commit({ ...commit, events: before });
          },
        };
      }),
    },
    {
      name: 'forgets at its start which events executors have told',
      faults: { masterCrash: true, store: true },
      settings: { tellsEvents: true, longRunChance: 0.6 },
      ...onStore((store) => ({
        loadActive: async () =>
          (await store.loadActive()).map((task) => ({ ...task, eventCount: 0 })),
      })),
    },
    {
      name: 'begins the numbers of the feed anew at its start',
      faults: { masterCrash: true },
      ...onStore((store) => ({
        takeTerm: async (...asked) => ({ ...(await store.takeTerm(...asked)), lastEventSeq: 0 }),
      })),
    },
  ];
}
