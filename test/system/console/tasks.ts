/** Part of `browser.test.ts`, in its browser and on its master: lists under a name, one task, and executors together. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { eventually } from '../../helpers/system/wait.ts';
import type { Console } from './console.ts';

/** @param console once the tests run. */
export function describeTasks(console: () => Console): void {
  it('keeps what is looked at under a name, for all, and opens it first for whoever wants that', async () => {
    const { page, go, api } = console();
    const views = page.getByRole('navigation', { name: 'Saved views' });
    const confirm = (verb: string) =>
      page.getByRole('dialog').getByRole('button', { name: verb }).click();
    await go('#/tasks?type=nobody&state=canceled');
    await views.getByRole('button', { name: 'Save as a view' }).click();
    await page.getByRole('textbox', { name: /^Name/ }).fill('lost-nights');
    await confirm('Save as a view');
    await views.locator('[aria-current]').getByText('lost-nights').waitFor();
    const query = { type: 'nobody', state: 'canceled' };
    expect((await api('GET', '/views'))['views']).to.deep.equal([{ name: 'lost-nights', query }]);

    await views.getByRole('button', { name: 'Open first' }).click();
    await views.getByRole('button', { name: 'Rename' }).click();
    // Its own name is no other, also with a space behind it.
    await page.getByRole('textbox', { name: /^Name/ }).fill('lost-nights ');
    await confirm('Rename');
    await page.getByText('There is a view of this name: remove that one first.').waitFor();
    await page.getByRole('textbox', { name: /^Name/ }).fill('nights');
    await confirm('Rename');
    await views.getByRole('link', { name: 'nights', exact: true }).waitFor();
    await views.getByRole('link', { name: 'lost-nights' }).waitFor({ state: 'detached' });
    await go('#/overview');
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.waitForURL('**/#/tasks?state=canceled&type=nobody');
    await page.getByRole('link', { name: 'night-0' }).waitFor();

    await views.getByRole('button', { name: 'Remove' }).click();
    await confirm('Remove');
    await views.getByRole('button', { name: 'Save as a view' }).waitFor();
    await go('#/tasks?view=nights');
    await page.getByText('There is no view nights any more.').waitFor();
    const menu = page.getByRole('navigation', { name: 'Pages', exact: true });
    expect(await menu.getByRole('link', { name: 'Tasks' }).getAttribute('href')).to.equal(
      '#/tasks',
    );
  });

  it('tells the attempts of a task, what was done between them, and gives its log to keep', async () => {
    const { page, go, api, says } = console();
    const again = { fail: { retryAfterMs: 3_600_000, message: 'not yet' } };
    const attempts = [[{ log: 'the first' }, again], [{ log: 'the second' }]];
    await api('POST', '/task/submit', {
      task: { id: 'twice-1', type: 'work', params: { attempts } },
      user: { group: 'video' },
    });
    await go('#/task/twice-1');
    await says('It failed, and is tried again later.');
    await api('PATCH', '/task/twice-1', { run_at: Date.now() });
    await page.locator('.head').getByText('Succeeded').waitFor();
    const heading = page.getByRole('heading', { name: 'Attempts' });
    const rows = page.locator('section').filter({ has: heading }).locator('tbody tr');
    await rows.filter({ hasText: 'Changed' }).waitFor();
    const told = await rows.locator('td:nth-child(2)').allInnerTexts();
    expect(told).to.deep.equal(['Succeeded', 'Changed', 'Failed']);
    expect(await page.locator('.span').count()).to.equal(2);

    await page.locator('.log').getByText('the second').waitFor();
    await page.getByLabel('Attempt', { exact: true }).selectOption('1');
    await page.locator('.log').getByText('the first').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const file = await download;
    expect(file.suggestedFilename()).to.equal('twice-1.1.log');
    expect(await readFile(await file.path(), 'utf8')).to.match(/ERROR.*the first/);
  });

  it('runs a copy of a task, with something else in it and all digits of the rest', async () => {
    const { page, go, api } = console();
    await go('#/task/film-1');
    await page.getByRole('link', { name: 'Run a copy' }).click();
    expect(await page.getByLabel('frame').inputValue()).to.equal('12345678901234567890');
    await page.getByLabel('Source').fill('b.mov');
    await page.getByLabel('Id of the copy').fill('film-2');
    await page.getByRole('button', { name: 'Run it' }).click();
    await page.getByRole('heading', { name: 'film-2' }).waitFor();
    const text = await page.getByRole('region', { name: 'Params' }).innerText();
    expect(text).to.include('"source": "b.mov"').and.include('"frame": 12345678901234567890');
    expect((await api('GET', '/task/film-2'))['user']).to.deep.equal({ group: 'video' });
  });

  it('shows versions side by side, and drains the executors that are chosen', async () => {
    const { page, go, api, system } = console();
    const { token } = await api('POST', '/tokens', { name: 'worker-2', role: 'executor' });
    const come = () =>
      system.spawnExecutor({ id: 'gpu-2', version: '2.1', token: String(token), labels: ['gpu'] });
    let second = come();
    await go('#/executors');
    const versions = page.locator('section').filter({ hasText: 'Versions' });
    await versions
      .getByRole('row', { name: /^2\.1 1 / })
      .getByText('50 %')
      .waitFor();
    for (const id of ['gpu-1', 'gpu-2']) await page.getByLabel(new RegExp(`^${id} `)).check();
    await page.locator('.bulk').getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('heading', { name: 'Drain 2 executors?' }).waitFor();
    await page.getByLabel('Reason').fill('new codec');
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    for (const id of ['gpu-1', 'gpu-2']) {
      expect((await api('GET', `/executor/${id}`))['drain_reason']).to.equal('new codec');
      await api('POST', `/executor/${id}/resume`);
    }

    // One that leaves meanwhile keeps the others from nothing.
    for (const id of ['gpu-1', 'gpu-2']) await page.getByLabel(new RegExp(`^${id} `)).check();
    await page.locator('.bulk').getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('heading', { name: 'Drain 2 executors?' }).waitFor();
    await second.end('SIGTERM');
    await eventually(
      'it has left',
      async () => (await api('GET', '/executor/gpu-2'))['status'] === 404,
    );
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await api('GET', '/executor/gpu-1'))['draining']).to.equal(true);
    await api('POST', '/executor/gpu-1/resume');

    // Whoever comes back is not the one that was ticked.
    second = come();
    await page.getByLabel(/^gpu-2 /).check();
    await page.getByText('1 chosen').waitFor();
    const ticked = await page.getByLabel(/^gpu-2 /).getAttribute('aria-label');
    await second.end('SIGTERM');
    await page.getByLabel(/^gpu-2 /).waitFor({ state: 'detached' });
    come();
    await page.getByLabel(String(ticked)).waitFor({ state: 'detached' });
    await page.getByLabel(/^gpu-2 /).waitFor();
    expect(await page.locator('.bulk').count()).to.equal(0);
  });
}
