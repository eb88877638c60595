/** Reports that take long, and who asks for something else meanwhile. */
import { expect } from 'chai';
import { API_BASE } from '@soda-scheduler/protocol';
import type { ApiRequest } from '../../../master/access/http/route.ts';
import { inNamespaces } from '../../../master/access/routes/namespaces.ts';
import { type MasterHandle, Unavailable } from '../../../master/application/master-handle.ts';
import { createEngine } from '../../helpers/engine.ts';
import { settled } from '../../helpers/manual-clock.ts';

describe('reports beside other reads', () => {
  it('are asked for by the token, which takes turns with others', async () => {
    const askers: unknown[] = [];
    const master = {
      by(...of: unknown[]) {
        askers.push(of);
        return master;
      },
    } as unknown as MasterHandle;
    const handle = async () => ({ body: null });
    const common = {
      method: 'GET',
      path: `${API_BASE}/x`,
      summary: '',
      replies: {},
      handle,
    } as const;
    const use = async <T>(_: string, work: (led: { master: MasterHandle }) => Promise<T>) =>
      work({ master });
    const routes = inNamespaces({ use }, [common, { ...common, hot: true }]);
    for (const route of routes) {
      const asked = { actor: { name: 'ann', scope: null }, author: null, params: {} };
      await route.handle(asked as unknown as ApiRequest);
    }
    expect(askers).to.deep.equal([
      [null, 'ann'],
      [null, 'ann'],
    ]);
  });

  it('leave lists their places, and end when nobody waits for them any more', async () => {
    const days: string[] = [];
    let answer: () => void = () => undefined;
    const { store, clock, engine, master } = createEngine();
    store.readUsage = ({ day }) => {
      days.push(day);
      return new Promise((resolve) => void (answer = () => resolve([])));
    };
    const { ended } = await engine.start();
    ended.catch(() => undefined);
    const asked = { isByDay: false, by: [], type: null, group: null, within: null } as const;
    const reports = ['2026-11-01', '2026-11-03', '2026-11-05'].map((day, index) =>
      master.reports
        .usage({ ...asked, days: [day, `2026-11-0${2 * index + 2}`] })
        .catch((error: unknown) => error),
    );
    expect(await master.lists.countEnded('succeeded', 10)).to.equal(0);
    clock.advance(10_000);
    for (const refused of await Promise.all(reports)) expect(refused).to.be.instanceOf(Unavailable);
    answer();
    await settled();
    expect(days, 'of the first report the first day').to.deep.equal(['2026-11-01']);
    await engine.stop();
  });
});
