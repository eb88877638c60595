/** Part of `browser.test.ts`: what lists and figures say where there is more than one request looks at. */
import { expect } from 'chai';
import { createExecutor, NonRetryableError } from '@soda-scheduler/executor-sdk';
import {
  CloseCode,
  type ErrorList,
  type LogPage,
  type RecentReport,
} from '@soda-scheduler/protocol';
import { RawExecutor } from '../../helpers/raw-executor.ts';
import type { Console } from './console.ts';

/** @param of once the tests run. */
export function itLists(of: () => Console): void {
  /**
   * Answers what is asked for in place of the master, until `stop`: only what it takes tens of thousands of tasks to be
   * answered by a real one, whose numbers of requests and pages are what is looked at.
   */
  async function answer(path: string, bodyOf: (query: URLSearchParams) => object) {
    const { page } = of();
    await page.route(`**/scheduler/v2${path}*`, (route) =>
      route.fulfill({ json: bodyOf(new URL(route.request().url()).searchParams) }),
    );
  }
  const stop = () => of().page.unrouteAll({ behavior: 'ignoreErrors' });

  it('finds an id behind pages without any, and opens it though Enter came first', async () => {
    const { page, go, says } = of();
    // A page without any needs more tasks than one request looks through.
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

  it('shows what is found above the page, until one goes elsewhere', async () => {
    const { page, go } = of();
    const found = page.getByRole('search').getByRole('list');
    await page.getByRole('link', { name: 'page-54' }).waitFor();
    await go('#/audit');
    await page.getByRole('row').nth(8).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('page-5');
    await found.getByRole('listitem').nth(5).waitFor();
    // At the right edge of each, where rows of the table stand below.
    const covered = await page.evaluate<string[]>(`
      [...document.querySelectorAll('.search li')].flatMap((one) => {
        const { right, top, bottom } = one.getBoundingClientRect();
        const seen = document.elementFromPoint(right - 4, (top + bottom) / 2);
        return one.contains(seen) ? [] : [one.innerText + ' by ' + seen.outerHTML.slice(0, 60)];
      })`);
    expect(covered).to.deep.equal([]);
    await page.goBack();
    await page.getByRole('link', { name: 'page-54' }).waitFor();
    await found.waitFor({ state: 'detached' });
    expect(await page.getByRole('searchbox').inputValue()).to.equal('');
  });

  it('looks on by itself where a page has too little, and through 8,000 failures at a time', async () => {
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
    const { page, go, api, says } = of();
    const [task, user] = [{ id: 'passing-1', type: 'passing' }, { group: 'video' }];
    await api('POST', '/task/submit', { task, user });
    await go('#/overview');
    const line = page.locator('.findings li').filter({ hasText: '1 task of type passing waits' });
    await line.waitFor();
    const before = await line.boundingBox();
    await api('POST', '/task/passing-1/cancel');
    await says('Over:');
    expect((await line.boundingBox())?.height).to.equal(before?.height);
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

/** More than one request looks at. */
const FAILED_COUNT = 900;
const FAILED_OF_BATCH = 300;

/** After all that counts what was done lately. @param of once the tests run. */
export function itLooksThrough(of: () => Console): void {
  it('says how many have failed, not how many one request has looked at, and groups all of them', async () => {
    const { page, go, api, says, system } = of();
    const { token } = await api('POST', '/tokens', { name: 'breakers', role: 'executor' });
    let failedCount = 0;
    let end = (): void => undefined;
    const allFailed = new Promise<void>((resolve) => (end = resolve));
    const breakers = Array.from({ length: 8 }, () => {
      const executor = createExecutor({
        url: system.url,
        token: String(token),
        handleSignals: false,
      });
      executor.handle('breaks', async () => {
        failedCount += 1;
        if (failedCount === FAILED_COUNT) end();
        throw new NonRetryableError('no disk');
      });
      return executor;
    });
    await Promise.all(breakers.map((one) => one.start()));
    try {
      for (let n = 0; n < FAILED_COUNT; n += FAILED_OF_BATCH) {
        const tasks = Array.from({ length: FAILED_OF_BATCH }, () => {
          return { task: { type: 'breaks' }, user: { group: 'video' } };
        });
        await api('POST', '/task/submit-batch', { tasks });
      }
      await allFailed;
    } finally {
      await Promise.all(breakers.map((one) => one.stop()));
      await api('DELETE', '/token/breakers');
    }
    const first = (await api('GET', '/tasks/errors')) as unknown as ErrorList;
    // 800, or what a busy machine can look at in the time that a request has.
    expect(first.looked_at).to.be.within(1, 800);
    expect(first.next_cursor).to.be.a('string');
    const { types } = (await api('GET', '/reports/recent')) as unknown as RecentReport;
    const all = types.reduce((sum, { failed }) => sum + failed, 0);
    expect(all).to.be.at.least(FAILED_COUNT);
    await go('#/overview');
    const said = `${all.toLocaleString('en')} tasks have failed within an hour; most often of the newest`;
    await says(new RegExp(`${said} \\d+: no disk`));
    await go('#/failed?type=breaks');
    await says('Of the newest 900 failed tasks.');
    const counts = await page.locator('tbody td:first-child').allInnerTexts();
    expect(counts).to.deep.equal([String(FAILED_COUNT)]);
    await go('#/tasks?type=paged');
  });

  it('finds whatever has an id, from any page, also where it is in another namespace', async () => {
    const { page, go, api } = of();
    const template = {
      task: { type: 'film', params: { source: 'a.mov' } },
      user: { group: 'video' },
    };
    const triggers = [{ name: 'default', cron: '0 3 1 1 *', zone: 'UTC' }];
    await api('PUT', '/job/film-nightly', { template, triggers });
    await api('PUT', '/namespace/studio', {});
    const task = { id: 'afar-1', type: 'film' };
    await api('POST', '/ns/studio/task/submit', { task, user: { group: 'video' } });
    const results = page.getByRole('search').getByRole('listitem');
    const look = async (from: string, id: string) => {
      await go(`#/${from}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type(id);
      await results.first().waitFor();
      await page.getByText('Still looking …').waitFor({ state: 'detached' });
      const found = await results.allInnerTexts();
      await page.keyboard.press('Escape');
      return found;
    };
    expect(await look('audit', 'film')).to.deep.equal([
      ...['Task film-2', 'Task film-1', 'Type film', 'Job film-nightly'],
    ]);
    expect(await look('reports', 'gpu-1')).to.deep.equal(['Executor gpu-1']);
    expect(await look('alert-rules', 'afar-1')).to.deep.equal(['Task afar-1 studio']);
    expect(await look('tokens', 'no-such-id')).to.deep.equal(['Nothing has this id.']);
    await api('DELETE', '/job/film-nightly');
    await api('POST', '/ns/studio/task/afar-1/cancel');
    await api('DELETE', '/ns/studio/task/afar-1');
    await api('DELETE', '/namespace/studio');
  });

  it('counts the tasks of each state beside its name, and only what it can count', async () => {
    const { page, go, api } = of();
    const tabs = page.getByRole('navigation', { name: 'State' });
    const said = (text: RegExp) => tabs.getByRole('link', { name: text }).waitFor();
    const submit = (id: string) =>
      api('POST', '/task/submit', { task: { id, type: 'counted' }, user: { group: 'video' } });
    for (const n of [1, 2, 3]) await submit(`counted-${n}`);
    await go('#/tasks?type=counted');
    await said(/^Waiting\s*3$/);
    await api('POST', '/task/counted-1/suspend', { reason: 'later' });
    await said(/^Waiting\s*2$/);
    await said(/^Suspended\s*1$/);
    const counted = await api('GET', '/tasks/count?type=counted');
    expect(counted['states']).to.include({ waiting: 2, suspended: 1 });
    await go('#/tasks?type=counted&id_prefix=counted-2');
    await page.getByRole('link', { name: 'counted-1' }).waitFor({ state: 'detached' });
    await said(/^Waiting$/);
    await go('#/tasks?type=paged');
  });

  it('shows the log that is kept of one that was too long, and how much of it is not', async () => {
    const { page, go, api, says } = of();
    const lineCount = 7_000;
    const params = { attempts: [[{ lines: lineCount }]] };
    await api('POST', '/task/submit', {
      task: { id: 'long-log', type: 'work', params },
      user: { group: 'video' },
    });
    await go('#/task/long-log');
    await page.locator('.head').getByText('Succeeded').waitFor();
    const read = async (after: string) => {
      const path = `/task/long-log/logs?limit=1000&wait=5&after=${after}`;
      return (await api('GET', path)) as unknown as LogPage;
    };
    // What is kept changes until all of it is there.
    for (let after = '1.0', isEnded = false; !isEnded; ) {
      ({ next: after, ended: isEnded } = await read(after));
    }
    let [kept, dropped] = [0, 0];
    for (let after = '1.0', isEnded = false; !isEnded; ) {
      const part = await read(after);
      kept += part.lines.length;
      dropped += part.dropped;
      ({ next: after, ended: isEnded } = part);
    }
    expect(kept + dropped).to.equal(lineCount);
    expect(dropped).to.be.above(1_000);
    await page.reload();
    await says(`${dropped.toLocaleString('en')} lines were dropped: the log was too long.`);
    await page.locator('.log').getByText(`line ${lineCount} of ${lineCount}`).waitFor();
    await go('#/tasks?type=paged');
  });

  it('pages through more executors than one request brings, and counts all of them', async () => {
    const { page, go, api, system } = of();
    const { token } = await api('POST', '/tokens', { name: 'crowd', role: 'executor' });
    const join = (n: number) =>
      RawExecutor.join(
        system.port,
        { executor_id: `crowd-${String(n).padStart(3, '0')}`, incarnation: `i${n}` },
        'default',
        String(token),
      );
    const crowd = await Promise.all(Array.from({ length: 205 }, (_, n) => join(n)));
    let n = 0;
    // As executors do: they stay, however slow the machine is.
    const beats = setInterval(() => {
      n += 1;
      for (const one of crowd) {
        one.send({ type: 'heartbeat', n, ack: 0, state: 'idle', running: [] });
      }
    }, 1_000);
    try {
      await go('#/executors');
      // What is counted of all is seldom asked for.
      await page.reload();
      await page.getByRole('link', { name: 'crowd-199' }).waitFor();
      await page.getByRole('link', { name: 'crowd-000' }).waitFor();
      expect(await page.getByRole('link', { name: 'crowd-204' }).count()).to.equal(0);
      // Of all of them, not of those that are shown.
      await page.getByText(/Idle 20[5-9]/).waitFor();
      await page.getByRole('link', { name: 'Next page' }).click();
      await page.getByRole('link', { name: 'crowd-204' }).waitFor();
      expect(await page.getByRole('link', { name: 'crowd-000' }).count()).to.equal(0);
      await page.goBack();
      await page.getByRole('link', { name: 'crowd-000' }).waitFor();
    } finally {
      clearInterval(beats);
      for (const one of crowd) one.socket.close(CloseCode.leaving);
      await api('DELETE', '/token/crowd');
    }
    await go('#/tasks?type=paged');
  });
}
