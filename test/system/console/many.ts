/** What is done to many tasks at once in the console, for `browser.test.ts`. */
import { expect } from 'chai';
import type { Console } from './console.ts';

export function itDoesToMany(of: () => Console): void {
  /** Lets no count be answered until it is told so. */
  async function holdCounts(): Promise<{ release: () => void; count: () => number }> {
    let [release, count] = [() => undefined as void, 0];
    const released = new Promise<void>((resolve) => (release = resolve));
    await of().page.route('**/tasks/bulk', async (route) => {
      count += 1;
      await released;
      await route.continue();
    });
    return { release, count: () => count };
  }

  it('does something to many tasks, and says to how many before', async () => {
    const { page, go, api, says, browser } = of();
    for (let n = 0; n < 3; n++) {
      const task = { id: `night-${n}`, type: 'nobody' };
      await api('POST', '/task/submit', { task, user: { group: 'video' } });
    }
    await go('#/tasks?type=nobody&state=waiting');
    await page.getByRole('link', { name: 'night-2' }).waitFor();
    await browser.expectAccessible('the tasks');
    // It may take a while until all are counted: neither a second press nor whoever goes on is asked then.
    const held = await holdCounts();
    const cancel = page.locator('.bulk').getByRole('button', { name: 'Cancel' });
    await cancel.dblclick();
    await says('Counting …');
    await go('#/tasks?type=nobody');
    held.release();
    await page.locator('.told p').waitFor({ state: 'detached' });
    expect([held.count(), await page.getByRole('dialog').count()]).to.deep.equal([1, 0]);
    await page.unroute('**/tasks/bulk');
    await go('#/tasks?type=nobody&state=waiting');
    await cancel.click();
    await page.getByRole('heading', { name: 'Cancel 3 tasks?' }).waitFor();
    await browser.expectAccessible('a question');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.head').getByText('Done').waitFor();
    expect((await api('GET', '/task/night-0'))['state']).to.equal('canceled');
  });
}
