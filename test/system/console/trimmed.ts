/** Part of `browser.test.ts`: what is shown of a task once the feed does not keep all that it has told. */
import { expect } from 'chai';
import { join } from 'node:path';
import Libsql from 'libsql';
import type { Console } from './console.ts';

/** @param of once the tests run; @param logIn by the form that is shown. */
export function itTellsOfWhatIsKept(of: () => Console, logIn: () => Promise<void>): void {
  it('shows the events of a task, though the feed does not keep its first any more', async () => {
    const { system, page, go, says, api } = of();
    const events = page.locator('section').filter({
      has: page.getByRole('heading', { name: 'Events', exact: true }),
    });
    await go('#/task/page-3');
    await events.getByText('Submitted').waitFor();
    await system.master.end('SIGTERM');
    const database = new Libsql(join(system.folder, 'data', 'soda.db'));
    // As if all of it were older than the feed is kept.
    database.exec('DELETE FROM feed_event WHERE seq < (SELECT MAX(seq) FROM feed_event)');
    database.close();
    await system.startMaster();
    await says(/Your login has ended/);
    await logIn();
    await api('POST', '/task/page-3/suspend', { reason: 'later' });
    await events.getByText('Suspended').waitFor();
    // Nothing is known of what is no more told of.
    await page.reload();
    await events.getByText('Suspended').waitFor();
    expect(await events.getByText('Submitted').count()).to.equal(0);
    expect((await api('GET', '/events'))['oldest']).to.be.above(1);
    await api('POST', '/task/page-3/resume');
    await go('#/tasks?type=paged');
  });
}
