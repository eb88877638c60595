/**
 * The console in a real browser: a master with a token, an executor, and tasks as people submit them. One browser and one
 * master for all of it; each test begins where the one before has left them.
 */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { BROWSER, RealBrowser } from '../../helpers/system/browser.ts';
import { System } from '../../helpers/system/system.ts';
import type { Console } from './console.ts';
import { describeTasks } from './tasks.ts';
import { itFillsForms } from './forms.ts';
import { itKeepsCalendars } from './calendars.ts';
import { describeReports, filesOf } from './reports.ts';
import { itKeepsJobs } from './jobs.ts';
import { itGoesByKeys } from './keys.ts';
import { itLists, itLooksThrough } from './lists.ts';
import { itKeepsPlaces } from './places.ts';
import { itDoesToMany } from './many.ts';
import { itSets } from './settings.ts';
import { itTellsOfWhatIsKept } from './trimmed.ts';

const ADMIN = 'admin-token-0123456789';
const HOSTILE = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';

describe(BROWSER === undefined ? 'the console (no browser here)' : 'the console', function () {
  let system: System;
  let browser: RealBrowser;
  let page: Page;

  before(async function () {
    if (BROWSER === undefined) return this.skip();
    system = await System.start({
      databaseUrl: '',
      env: {
        SODA_ADMIN_TOKEN: ADMIN,
        SODA_SUBMIT_TOKEN: 'submit-token-0123456789',
        SODA_EXECUTOR_TOKEN: 'executor-token-0123456789',
        SODA_EVENTS: 'all',
        // A quarter of what is usual: one that is too long is soon told, and soon shown.
        SODA_LOG_BYTES: String(256 * 1024),
      },
    });
    browser = await RealBrowser.start(BROWSER);
    page = browser.page;
  });
  after(async () => {
    await browser?.close();
    await system?.stop();
  });

  const go = (hash: string) => page.goto(`${system.url}/${hash}`);
  const says = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const api = async (method: string, path: string, body?: unknown, token = ADMIN) => {
    const answer = await fetch(`${system.url}/scheduler/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, unknown>;
  };
  const submit = (task: object, group = 'video') =>
    api('POST', '/task/submit', { task, user: { group } });
  const makeToken = async (name: string, role: string, scope?: object) =>
    String((await api('POST', '/tokens', { name, role, ...(scope && { scope }) }))['token']);
  const console = (): Console => ({ system, browser, page, go, says, api });
  async function logIn(token: string): Promise<void> {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor();
  }
  it('asks for a token, says that it does not know one, and keeps none', async () => {
    await go('');
    await page.getByLabel('Token').waitFor();
    await browser.expectAccessible('the login');
    const loaded = await filesOf(page);
    const names = loaded.map(({ name }) => name).join(' ');
    expect(names).to.include('/app-').and.include('/style-').and.not.include('/plot-');
    const size = loaded.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(size).to.be.within(20_000, 60 * 1024);
    await page.getByLabel('Token').fill('guess');
    await page.getByRole('button', { name: 'Log in' }).click();
    await says('This master does not know the token.');
    await logIn(ADMIN);
    const kept = await page.evaluate('JSON.stringify(localStorage) + document.cookie');
    expect(kept).to.not.match(/admin-token|soda_session/);
    const [cookie] = await browser.context.cookies();
    expect(cookie).to.include({ httpOnly: true, sameSite: 'Strict' });
    expect(cookie?.name).to.match(/^soda_session_/);
  });

  it('teaches the next step where there is nothing yet', async () => {
    await go('#/tasks');
    await says('There is no task yet.');
    await says('/scheduler/v2/task/submit');
  });

  it('shows a task that comes, and finds its id from anywhere', async () => {
    await submit({ id: 'clip-1', type: 'work', requires: ['gpu'] });
    await page.getByRole('link', { name: 'clip-1' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('clip');
    await page.getByRole('search').getByRole('link', { name: 'clip-1' }).waitFor();
    await page.keyboard.press('Enter');
    await says('Nobody to run it.');
    expect(new URL(page.url()).hash).to.equal('#/task/clip-1');
  });

  it('says why a task waits, and does what would start it, once somebody has agreed', async () => {
    await api('POST', '/task/clip-1/suspend', { reason: 'the disk is needed' });
    await says(/the disk is needed/);
    await page.locator('.why').getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await says('Nobody to run it.');
    expect((await api('GET', '/task/clip-1'))['state']).to.equal('waiting');
  });

  it('shows what others have written as text, every digit of it', async () => {
    const token = await makeToken('worker', 'executor');
    system.spawnExecutor({ id: 'gpu-1', token });
    const params = `{"attempts":[[{"fail":{"retryable":false,"message":${JSON.stringify(HOSTILE)}}}]],"big":12345678901234567890,"one":1.0,"html":${JSON.stringify(HOSTILE)}}`;
    await fetch(`${system.url}/scheduler/v2/task/submit`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
      body: `{"task":{"id":"evil-1","type":"work","notify_url":"http://127.0.0.1:1/?${encodeURIComponent(HOSTILE)}","params":${params}},"user":{"group":${JSON.stringify(HOSTILE)},"project":${JSON.stringify(HOSTILE)},"user":${JSON.stringify(HOSTILE)}}}`,
    });
    await go('#/task/evil-1');
    await says('Failed for good');
    const text = await page.getByRole('region', { name: 'Params' }).innerText();
    expect(text).to.include('"big": 12345678901234567890').and.include('"one": 1.0');
    expect(text).to.include('<img src=x onerror=');
    await go(`#/tasks?error=${encodeURIComponent(HOSTILE)}`);
    await go('#/tasks');
    await page.getByText('<img src=x').first().waitFor();
    expect(await page.evaluate('window.hit')).to.equal(undefined);
    expect(await page.locator('main img, main script').count()).to.equal(0);
  });

  it('follows a task to its end without a reload', async () => {
    await submit({
      id: 'clip-2',
      type: 'work',
      params: { attempts: [[{ log: HOSTILE }, { hold: true }]] },
    });
    await go('#/task/clip-2');
    await says('Running');
    await page.locator('.log').getByText('<img src=x').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByLabel('Reason').fill('wrong file');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.head').getByText('Cancelled').waitFor();
  });

  itDoesToMany(console);

  it('says what is wrong first, and runs again what has failed, all of it', async () => {
    await go('#/overview');
    await says(/task has failed within an hour: <img/);
    await go('#/failed');
    await page
      .getByRole('row', { name: /<img src=x/ })
      .getByRole('button')
      .click();
    await page.getByRole('heading', { name: 'Run 1 task again?' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click();
    await page.locator('.head').getByText('Done').waitFor();
    await says('Retry: many tasks');
  });

  it('drains an executor, and takes it back', async () => {
    await go('#/executors');
    await page.getByRole('link', { name: 'gpu-1' }).click();
    await page.getByRole('button', { name: 'Drain' }).click();
    await page.getByLabel('Reason').fill(HOSTILE);
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await says('Draining');
    await page.locator('.remark').getByText('<img src=x').waitFor();
    await page.getByRole('button', { name: 'Back into work' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Back into work' }).click();
    await says('Idle');
  });

  it('submits a task by a form that is made of the schema of its type', async () => {
    const properties = {
      source: { type: 'string', title: 'Source', description: HOSTILE },
      frame: { type: 'integer' },
    };
    await api('PUT', '/type/film', {
      description: HOSTILE,
      params_schema: { type: 'object', required: ['source'], properties },
    });
    await go('#/new-task?type=film');
    await page.getByLabel('Source').fill('a.mov');
    await page.getByLabel('frame').fill('12345678901234567890');
    await page.getByLabel('Group').fill('video');
    await page.getByLabel('Id (').fill('film-1');
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByRole('heading', { name: 'film-1' }).waitFor();
    const text = await page.getByRole('region', { name: 'Params' }).innerText();
    expect(text).to.include('"frame": 12345678901234567890');
  });

  itFillsForms(console, () => logIn(ADMIN));
  itGoesByKeys(console);
  itSets(console, HOSTILE);
  itKeepsCalendars(console, HOSTILE);

  describeTasks(console);

  it('has pages that a reader of screens can read, and that no text of others gets into', async () => {
    const hashes = ['overview', 'failed', 'executor/gpu-1', 'type/film', 'copy-task/film-1'];
    const set = ['alert-rules', 'alert-receivers', 'define/film', 'limits', 'one-at-a-time'];
    const rest = [
      'pauses',
      'types',
      'executors',
      'callbacks',
      'reports?by=day',
      'alerts',
      'operations',
      'namespaces',
      'audit',
      'tokens',
    ];
    for (const hash of ['task/clip-2', ...hashes, ...set, ...rest]) {
      await go(`#/${hash}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      await browser.expectAccessible(hash);
      expect(await page.evaluate('window.hit'), hash).to.equal(undefined);
      expect(await page.locator('main img, main script').count(), hash).to.equal(0);
    }
  });

  itKeepsJobs(console, HOSTILE);

  it('keeps filters in the URL, and pages by cursors', async () => {
    const tasks = Array.from({ length: 55 }, (_, n) => ({
      task: { id: `page-${n}`, type: 'paged' },
      user: { group: 'video' },
    }));
    await api('POST', '/task/submit-batch', { tasks });
    await go('#/tasks');
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    await page.getByLabel('Type', { exact: true }).fill('paged');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'page-54' }).waitFor();
    await page.waitForURL(/type=paged/);
    await page.getByLabel('page-54').check();
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByRole('link', { name: 'page-0', exact: true }).waitFor();
    await says('1 chosen');
    await page.goBack();
    await page.getByRole('link', { name: 'page-54' }).waitFor();
    // What is chosen was among these.
    await page.goBack();
    await page.getByText('1 chosen').waitFor({ state: 'detached' });
    await page.goForward();
    await page.getByRole('link', { name: 'page-54' }).waitFor();
  });

  itLists(console);
  itKeepsPlaces(console, () => logIn(ADMIN));

  it('speaks Chinese, is dark, and tells its keys', async () => {
    await page.getByLabel('Language').selectOption('zh');
    await page.getByRole('heading', { name: '任务' }).waitFor();
    await page.getByLabel('颜色').selectOption('dark');
    await browser.expectAccessible('dark and Chinese');
    await page.reload();
    await page.getByRole('heading', { name: '任务' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: '快捷键' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('语言').selectOption('en');
    await page.getByLabel('Colours').selectOption('light');
  });

  it('fits a phone', async () => {
    await page.setViewportSize({ width: 375, height: 812 });
    await api('POST', '/type/film/pause', { reason: 'x'.repeat(180) });
    const hashes = ['tasks', 'overview', 'executors', 'audit', 'alerts', 'namespaces', 'tokens'];
    const set = ['alert-rules', 'alert-receivers', 'define/film', 'limits', 'pauses', 'types'];
    for (const hash of [...hashes, ...set, 'operations', 'reports', 'type/film', 'task/evil-1']) {
      await go(`#/${hash}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width, hash).to.equal(375);
      // Nothing stands beside the screen, and the page begins at once.
      const tables = await page.evaluate<[number, number][]>(
        `[...document.querySelectorAll('.scroll')].map((one) => [one.scrollWidth, one.clientWidth])`,
      );
      for (const [all, seen] of tables) expect(all, hash).to.be.at.most(seen);
      const title = await page.getByRole('heading', { level: 1 }).boundingBox();
      expect(title?.y, hash).to.be.below(110);
      const here = await page.locator('nav [aria-current="page"]').boundingBox();
      expect((here?.x ?? 375) + (here?.width ?? 0), hash).to.be.at.most(375);
    }
    const params = page.locator('.code').filter({ hasText: '12345678901234567890' });
    const copy = await params.getByRole('button', { name: 'Copy as stored' }).boundingBox();
    const text = await params.getByRole('region').boundingBox();
    expect((copy?.y ?? 0) + (copy?.height ?? 0), 'the button').to.be.at.most(text?.y ?? 0);
    await api('POST', '/type/film/resume');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('says that the master is silent, though it is there', async () => {
    await go('#/tasks?type=paged');
    system.master.signal('SIGSTOP');
    await says(/The master does not answer since/);
    await page.locator('.live').getByText('No answer').waitFor();
    system.master.signal('SIGCONT');
    await page.locator('.live').getByText('Live').waitFor();
  });

  it('goes on by itself after the network was away, with what was typed and what could not be loaded', async () => {
    await go('#/new-task');
    await page.reload();
    await page.getByLabel('Group').fill('typed');
    // As if it had never been there.
    const tools = await browser.context.newCDPSession(page);
    await tools.send('Network.clearBrowserCache');
    await browser.context.setOffline(true);
    await says(/The master does not answer since/);
    expect(await page.getByLabel('Group').inputValue()).to.equal('typed');
    await go('#/jobs');
    await says('This page could not be loaded');
    await browser.context.setOffline(false);
    await says('There is no job yet');
    expect(await page.locator('.banner').count()).to.equal(0);
    await go('#/tasks?type=paged');
  });

  it('says that the master is away, and goes on by itself when it is back', async () => {
    await page.getByRole('link', { name: 'page-54' }).waitFor();
    // Which writes the minute that is not over.
    const gone = system.master.end('SIGTERM');
    await says(/The master does not answer since/);
    // What was there is still to be read.
    await page.getByRole('link', { name: 'page-54' }).waitFor();
    await gone;
    await system.startMaster();
    // Logins are in its memory.
    await says(/Your login has ended/);
    await logIn(ADMIN);
    await page.getByRole('link', { name: 'page-54' }).waitFor();
    expect(await page.getByText('does not answer since').count()).to.equal(0);
  });

  itTellsOfWhatIsKept(console, () => logIn(ADMIN));
  describeReports(console);
  itLooksThrough(console);

  it('shows to each role what it may do, and of a group what is its own', async () => {
    await page.getByRole('button', { name: 'Log out' }).click();
    await logIn(await makeToken('eve', 'read'));
    await go('#/task/page-1');
    await says('Nobody to run it.');
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).to.equal(0);
    await go('#/tokens');
    await says(/This page is not for your token: its role is read/);
    expect(await page.locator('main button').count()).to.equal(0);
    for (const hash of ['alert-rules', 'jobs', 'limits', 'pauses', 'type/film']) {
      await go(`#/${hash}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      expect(await page.locator('.head button, td button').count(), hash).to.equal(0);
    }
    await page.getByRole('button', { name: 'Log out' }).click();

    await logIn(await makeToken('bob', 'submit', { groups: ['news'] }));
    await submit({ id: 'news-1', type: 'paged' }, 'news');
    await go('#/tasks');
    await page.getByRole('link', { name: 'news-1' }).waitFor();
    expect(await page.getByRole('link', { name: /^page-/ }).count()).to.equal(0);
    await go('#/task/page-1');
    await says(/There is no task page-1/);
    await go('#/overview');
    await says('Counted of all groups');
    expect(await page.getByRole('figure').count()).to.equal(0);
    const counted = page.getByRole('row', { name: /^paged/ });
    await counted.getByText('56').waitFor();
    expect(await counted.getByRole('link').allInnerTexts()).to.deep.equal(['paged']);
  });

  it('ends with its token', async () => {
    await api('DELETE', '/token/bob');
    await page.getByLabel('Token').waitFor();
    await says(/Your login has ended/);
  });

  it('has asked nobody else, and the browser has nothing to complain about', async () => {
    expect([...browser.requested]).to.deep.equal([system.url]);
    const known = browser.complaints.filter((text) => !/ERR_CONNECTION_REFUSED|ERR_/.test(text));
    expect(known).to.deep.equal([]);
  });
});
