/** The pages of jobs, for `browser.test.ts`: with its browser, its master and the executor that is there. */
import { expect } from 'chai';
import type { Console } from './console.ts';

/** @param hostile what would do harm if it were not only shown. */
export function itKeepsJobs(of: () => Console, hostile: string): void {
  const inDialog = (name: string) => of().page.getByRole('dialog').getByRole('button', { name });
  const closed = () => of().page.getByRole('dialog').waitFor({ state: 'detached' });

  it('makes a job by a form, once its next times were seen, and lists it', async () => {
    const { page, go, says, api, browser } = of();
    await go('#/jobs');
    await says('There is no job yet');
    await says('soda job apply');
    await page.getByRole('link', { name: 'New job' }).click();
    await page.locator('[name="name"]').fill('nightly');
    await page.locator('[name="description"]').fill(hostile);
    await page.locator('[name="tags"]').fill('live');
    await page.locator('[name="template.task.type"]').fill('nobody-job');
    await page.locator('[name="template.user.group"]').fill('ops');
    await page.locator('[name="triggers[0].cron"]').fill('0 19 * * 9');
    await page.locator('[name="triggers[0].zone"]').fill('Asia/Shanghai');
    await page.getByRole('button', { name: 'See what differs' }).click();
    const wrong = page.locator('[aria-invalid=true]');
    await wrong.waitFor();
    expect(await wrong.getAttribute('name')).to.equal('triggers[0].cron');
    await wrong.fill('0 19 * * *');
    await page.getByRole('button', { name: 'See what differs' }).click();
    await page.getByRole('dialog').getByText('Its next times').waitFor();
    expect(await page.locator('dialog li').filter({ hasText: '19:00' }).count()).to.equal(5);
    await inDialog('Save').click();
    await page.getByRole('heading', { name: 'nightly', exact: true }).waitFor();
    expect((await api('GET', '/job/nightly'))['template']).to.deep.equal({
      task: { type: 'nobody-job', params: {} },
      user: { group: 'ops' },
    });
    await go('#/jobs?tag=live');
    const row = page.getByRole('row', { name: /nightly/ });
    await row.getByText('every day at 19:00').waitFor();
    await row.getByText('<img src=x').waitFor();
    await browser.expectAccessible('jobs');
    await go('#/jobs?text=other');
    await says('No job fits these filters.');
  });

  it('leaves whoever goes on before a change is saved where they are', async () => {
    const { page, go, api } = of();
    const template = { task: { type: 'nobody-job', params: {} }, user: { group: 'ops' } };
    await api('PUT', '/job/later', { template, triggers: [{ cron: '0 18 * * *' }] });
    let answer = (): void => undefined;
    const released = new Promise<void>((resolve) => (answer = resolve));
    const held = new Promise<void>((resolve) => {
      void page.route('**/job/later', async (route) => {
        if (route.request().method() !== 'PUT') return route.continue();
        const response = await route.fetch();
        resolve();
        await released;
        await route.fulfill({ response });
      });
    });
    await go('#/define-job/later');
    await page.locator('[name="tags"]').fill('evening');
    await page.getByRole('button', { name: 'See what differs' }).click();
    await inDialog('Save').click();
    await held;
    await go('#/jobs?tag=evening');
    answer();
    await page.locator('.told').getByText('Done').waitFor();
    await page.getByRole('row', { name: /later/ }).getByText('every day at 18:00').waitFor();
    expect(page.url()).to.match(/#\/jobs\?tag=evening$/);
    await page.unroute('**/job/later');
    await api('DELETE', '/job/later');
  });

  it('shows the month of a job, skips one time of it, and takes that back', async () => {
    const { page, go, api, browser } = of();
    const { next } = (await api('GET', '/job/nightly/next?count=1')) as {
      next: { nominal: string; local: string }[];
    };
    const [first] = next;
    const day = first?.local.slice(0, 10) ?? '';
    await go(`#/job/nightly?month=${day.slice(0, 7)}&day=${day}`);
    const row = page.locator('.day-turns tbody tr').first();
    await row.getByText('Will run').waitFor();
    await row.getByText('19:00').waitFor();
    await browser.expectAccessible('a job');
    const skipped = async () => {
      const { triggers } = (await api('GET', '/job/nightly')) as {
        triggers: { skipped: string[] }[];
      };
      return triggers[0]?.skipped;
    };
    await row.getByRole('button', { name: 'Skip' }).click();
    await inDialog('Skip').click();
    await row.getByText('Skipped', { exact: true }).waitFor();
    expect(await skipped()).to.deep.equal([first?.nominal]);
    await row.getByRole('button', { name: 'Do not skip' }).click();
    await inDialog('Do not skip').click();
    await row.getByText('Will run').waitFor();
    expect(await skipped()).to.deep.equal([]);
  });

  it('runs a job with other params, tells its versions apart, and rolls one back', async () => {
    const { page, go, says, api } = of();
    await go('#/run-job/nightly');
    await page.getByLabel('Params').fill('{"big":12345678901234567890}');
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByText('"big": 12345678901234567890').waitFor();
    await go('#/define-job/nightly');
    await page.locator('[name="tags"]').fill('live night');
    await page.getByRole('button', { name: 'See what differs' }).click();
    await inDialog('Save').click();
    await page.getByText('Versions: this is 2').click();
    await page.locator('.differences').getByText('["live","night"]').waitFor();
    await page.getByRole('button', { name: 'Roll back' }).click();
    await inDialog('Roll back').click();
    await says('Versions: this is 3');
    expect((await api('GET', '/job/nightly'))['tags']).to.deep.equal(['live']);
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByText('1 run that has begun goes on').waitFor();
    await inDialog('Disable').click();
    await closed();
    await page.locator('.head').getByText('Off').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await inDialog('Delete').click();
    await says('There is no job yet');
  });

  it('shows of each trigger its own clock, with the name of its zone, and what is set for it', async () => {
    const { page, go, api } = of();
    const template = { task: { type: 'nobody-job', params: {} }, user: { group: 'ops' } };
    const east = { name: 'east', cron: '0 19 * * *', zone: 'Asia/Tokyo' };
    const west = { name: 'west', cron: '30 4 * * *', zone: 'America/New_York' };
    const own = { jitter: 30, max_runs: 400, misfire: 'skip', grace: 300, overlap: 'max:3' };
    const ends = { end_at: '2199-12-01T00:00:00Z' };
    await api('PUT', '/job/mixed', {
      ...{ template, overlap: 'queue' },
      triggers: [east, { ...west, ...own, ...ends }],
    });
    await go('#/job/mixed');
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name} `) });
    await row('east')
      .getByText(/19:00 Asia\/Tokyo/)
      .waitFor();
    await row('west')
      .getByText(/04:30(:\d\d)? America\/New_York/)
      .waitFor();
    const { next_at: at } = await api('GET', '/job/mixed');
    const next = page.locator('.facts > div', { hasText: 'Next' }).locator('span').first();
    expect(await next.innerText()).to.match(/19:00 Asia\/Tokyo|04:30(:\d\d)? America\/New_York/);
    expect(await next.getAttribute('title')).to.include(String(at));
    const settings = await row('west').innerText();
    expect(settings).to.include(
      'up to 30 s later · noticed later than 5 min: none runs · while a run goes on: up to 3',
    );
    expect(settings).to.match(/until \D+30 Nov 2199.* · 400 times at most/);
    expect(await row('east').innerText()).to.not.include('while a run goes on');
    const shown = await page.evaluate<string[]>(
      `[...document.querySelectorAll('td.whole')].map((cell) => getComputedStyle(cell).display)`,
    );
    expect([...new Set(shown)]).to.deep.equal(['table-cell']);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(390);
    await page.setViewportSize({ width: 1280, height: 800 });
    await api('DELETE', '/job/mixed');
  });

  it('runs past times of a job, once it is agreed how many these are, and shows how far that is', async () => {
    const { page, go, says, api, browser } = of();
    const template = { task: { type: 'nobody-job', params: {} }, user: { group: 'ops' } };
    const zone = 'Asia/Shanghai';
    const triggers = [
      { name: 'night', cron: '0 3 * * *', zone },
      { name: 'noon', cron: '0 12 * * *', zone },
      { name: 'after', delay: 60 },
    ];
    await api('PUT', '/job/missed', { template, triggers });
    await go('#/job/missed');
    await page.getByRole('button', { name: 'Run past times' }).click();
    const trigger = page.locator('[name=trigger]');
    expect(await trigger.locator('option').allInnerTexts()).to.deep.equal(['night', 'noon']);
    await trigger.selectOption('noon');
    await page.locator('[name=from]').fill('2026-03-01T13:00');
    await page.locator('[name=to]').fill('2026-03-01T11:00');
    await inDialog('See how many').click();
    const wrong = page.locator('[aria-invalid=true]');
    await wrong.waitFor();
    expect(await wrong.getAttribute('name')).to.equal('to');
    await wrong.fill('2026-03-02T11:00');
    await inDialog('See how many').click();
    await says('No time of it is to be run.');
    // What was said stays; what was found is said to whoever asks again.
    expect(await trigger.inputValue()).to.equal('noon');
    await page.locator('[name=to]').fill('2026-03-04T13:00');
    await browser.expectAccessible('the form of a backfill');
    await inDialog('See how many').click();
    await page.getByRole('heading', { name: 'Run 3 past times of missed?' }).waitFor();
    const facts = await page.locator('dialog .facts dd').allInnerTexts();
    expect(facts.map((fact) => fact.replace(',', ''))).to.deep.equal([
      'Mon 2 Mar 12:00',
      'Wed 4 Mar 12:00',
      zone,
      'noon',
    ]);
    await page.getByLabel('Reason').fill('the outage');
    await inDialog('Run past times').click();
    await page.getByRole('heading', { name: 'Run past times: missed' }).waitFor();
    await says('the outage');
    await page.getByRole('button', { name: 'Pause' }).click();
    // With nothing to fill in, Enter is what is asked about.
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.head').getByText('Paused').waitFor();
    await page.getByRole('button', { name: 'End it' }).click();
    await inDialog('End it').click();
    await page.locator('.head').getByText('Cancelled').waitFor();
    const { runs } = (await api('GET', '/job/missed')) as { runs: { nominal: string }[] };
    expect(runs.map(({ nominal }) => nominal)).to.deep.equal(['2026-03-02T04:00:00.000Z']);
    await api('DELETE', '/job/missed');
  });
}
