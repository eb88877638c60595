/** Part of `browser.test.ts`: what lists and figures say where there is more than one request looks at. */
import { expect } from 'chai';
import type { Console } from './console.ts';

/** @param of once the tests run. */
export function itLists(of: () => Console): void {
  /** Answers what is asked for in place of the master, until `stop`. */
  async function answer(path: string, bodyOf: (query: URLSearchParams) => object) {
    const { page } = of();
    await page.route(`**/scheduler/v2${path}*`, (route) =>
      route.fulfill({ json: bodyOf(new URL(route.request().url()).searchParams) }),
    );
  }
  const stop = () => of().page.unrouteAll({ behavior: 'ignoreErrors' });

  it('says how many have failed, not how many one request has looked at', async () => {
    const { go, says } = of();
    const errors = [{ error: 'no disk', count: 162, sample: ['a'], search: null }];
    const failed = (type: string, n: number) => ({ type, accepted: n, started: n, failed: n });
    await answer('/tasks/errors', () => ({ errors, looked_at: 800, next_cursor: 'more' }));
    await answer('/reports/recent', () => ({
      ...{ since: new Date().toISOString(), next_cursor: null },
      types: [failed('a', 44_000), failed('b', 445)],
    }));
    await go('#/overview');
    await says('44,445 tasks have failed within an hour; most often of the newest 800: no disk');
    await answer('/reports/recent', () => ({ since: '', types: [], next_cursor: null }));
    await go('#/audit');
    await go('#/overview');
    await says('800+ tasks have failed within an hour');
    await stop();
    await go('#/tasks?type=paged');
  });

  it('finds an id behind pages without any, and opens it though Enter came first', async () => {
    const { page, go, says } = of();
    const [found, held] = [{ task_id: 'page-54' }, [] as string[]];
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/scheduler/v2/tasks?id_prefix=page-5&*', async (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor');
      held.push(String(cursor));
      if (cursor === 'second') await released;
      const [tasks, next] = { first: [[], 'second'], second: [[found], null] }[String(cursor)] ?? [
        [],
        'first',
      ];
      await route.fulfill({ json: { tasks, next_cursor: next } });
    });
    await go('#/overview');
    // It takes the keyboard to itself.
    await page.getByRole('heading', { name: 'Overview', exact: true, level: 1 }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('page-5');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'page-5', exact: true }).waitFor();
    expect(new URL(page.url()).hash).to.equal('#/task/page-5');
    await page.keyboard.press('/');
    await page.keyboard.type('page-5');
    await says('Still looking …');
    release();
    await page.getByRole('search').getByRole('link', { name: 'page-54' }).waitFor();
    await page.getByText('Still looking …').waitFor({ state: 'detached' });
    expect(held.slice(-3)).to.deep.equal(['null', 'first', 'second']);
    await page.keyboard.press('Escape');
    await stop();
    await go('#/tasks?type=paged');
  });

  it('looks on by itself where a page has too little, and groups failures of many requests', async () => {
    const { page, go, says } = of();
    const pageOf = (query: URLSearchParams) => Number(query.get('cursor') ?? '0');
    const error = (name: string, count: number) => ({
      ...{ error: name, count, sample: [name], search: name },
    });
    await answer('/tasks/errors', (query) => {
      const n = pageOf(query);
      const errors = [error(`error ${n % 2}`, 500), error('seldom', 300)];
      return { errors, looked_at: 800, next_cursor: String(n + 1) };
    });
    await go('#/failed');
    await says('Of the newest 8,000 failed tasks.');
    const counts = await page.locator('tbody td:first-child').allInnerTexts();
    expect(counts).to.deep.equal(['3,000+', '2,500+', '2,500+']);
    const further = page.getByRole('link', { name: 'Look at those before' });
    expect(await further.getAttribute('href')).to.equal('#/failed?cursor=10');
    await further.click();
    await says('Of 8,000 older failed tasks.');
    await stop();

    const { tasks } = await of().api('GET', '/tasks?type=paged&limit=2');
    let asked = 0;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/scheduler/v2/tasks?*user=ada*', async (route) => {
      const n = pageOf(new URL(route.request().url()).searchParams);
      asked = Math.max(asked, n);
      if (n === 3) await released;
      await route.fulfill({ json: { tasks: n === 3 ? tasks : [], next_cursor: String(n + 1) } });
    });
    await go('#/tasks?user=ada');
    await says('Nothing found so far: still looking …');
    release();
    await page.getByRole('link', { name: 'page-54' }).waitFor();
    expect(asked).to.equal(3);
    const next = page.getByRole('link', { name: 'Next page' });
    expect(await next.getAttribute('href')).to.equal('#/tasks?user=ada&cursor=4');
    // It ends somewhere: whoever wants more says so.
    await next.click();
    await says('Nothing found so far. A page looks at so many at a time');
    expect(asked).to.equal(23);
    await stop();
    await go('#/tasks?type=paged');
  });

  it('keeps what was found in its place for a while, said to be over', async () => {
    const { page, go, says } = of();
    const health = await of().api('GET', '/health');
    const finding = {
      ...{ kind: 'queue_full', severity: 'warning', subject: 'namespace', type: null },
      ...{ since: null, message: 'Full, just now.', cause: null, advice: 'Wait.', command: 'ls' },
    };
    let findings = [finding];
    await answer('/health', () => ({ ...health, findings }));
    await go('#/overview');
    const line = page.locator('.findings li').filter({ hasText: 'Full, just now.' });
    await line.waitFor();
    const before = await line.boundingBox();
    findings = [];
    await says('Over:');
    expect((await line.boundingBox())?.height).to.equal(before?.height);
    await stop();
    await go('#/tasks?type=paged');
  });

  it('holds the rows of tasks while somebody points at them or has chosen one, and tells of new ones', async () => {
    const { page, go, api } = of();
    const submit = (id: string) =>
      api('POST', '/task/submit', { task: { id, type: 'held' }, user: { group: 'video' } });
    const row = (id: string) => page.getByRole('link', { name: id });
    const held = (n: number) => page.getByRole('button', { name: `Held: ${n} new` });
    await submit('held-1');
    await go('#/tasks?type=held');
    await row('held-1').hover();
    await submit('held-2');
    await held(1).waitFor();
    expect(await row('held-2').count()).to.equal(0);
    await page.getByRole('heading', { name: 'Tasks' }).hover();
    await row('held-2').waitFor();
    await held(1).waitFor({ state: 'hidden' });
    // It ends, and is no more what the list is about.
    await go('#/tasks?type=held&state=waiting');
    await page.getByLabel('held-1').check();
    await page.getByRole('heading', { name: 'Tasks' }).hover();
    await api('POST', '/task/held-1/cancel');
    await submit('held-3');
    await held(1).waitFor();
    await page.locator('tr', { hasText: 'held-2' }).waitFor();
    await held(1).click();
    await row('held-3').waitFor();
    expect(await page.getByLabel('held-1').isChecked()).to.equal(true);
    await page.getByLabel('held-1').uncheck();
    await page.getByRole('heading', { name: 'Tasks' }).hover();
    await row('held-1').waitFor({ state: 'detached' });
    await go('#/tasks?type=paged');
  });
}
