/** Part of `browser.test.ts`, in its browser and on its master: forms that are pages, and what may happen while one is sent. */
import { expect } from 'chai';
import { eventually } from '../../helpers/system/wait.ts';
import type { Console } from './console.ts';

/** @param logIn with the token of whoever was here. */
export function itFillsForms(of: () => Console, logIn: () => Promise<void>): void {
  const submit = () => of().page.getByRole('button', { name: 'Submit' });
  const tasksOf = async (type: string) =>
    ((await of().api('GET', `/tasks?type=${type}`))['tasks'] as object[]).length;

  it('sends a form once, however often it is pressed, and again without a second task where the answer was lost', async () => {
    const { page, go, says } = of();
    await go('#/new-task?type=once');
    await page.getByLabel('Group').fill('video');
    let [arrived, release] = [0, () => undefined as void];
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/task/submit', async (route) => {
      arrived += 1;
      await route.fetch();
      await released;
      await route.abort();
    });
    await submit().dblclick();
    const busy = page.getByRole('button', { name: 'Sending …' });
    await busy.click();
    await page.getByLabel('Group').press('Enter');
    expect(await busy.getAttribute('aria-busy')).to.equal('true');
    release();
    await says('The master does not answer.');
    expect(arrived).to.equal(1);
    await page.unroute('**/task/submit');
    await submit().click();
    await page.getByRole('region', { name: 'Params' }).waitFor();
    expect(await tasksOf('once')).to.equal(1);
  });

  it('says beside each field of a task what is wrong there', async () => {
    const { page, go, api, says } = of();
    const properties = { seconds: { type: 'integer', maximum: 600 } };
    await api('PUT', '/type/bounded', { params_schema: { type: 'object', properties } });
    await go('#/new-task?type=bounded');
    await page.getByLabel('seconds').fill('601');
    await page.getByLabel('Group').fill('video');
    const names = () =>
      page.evaluate(
        `[...document.querySelectorAll('[aria-invalid=true]')].map(({ name }) => name)`,
      );
    await submit().click();
    await says('must be <= 600');
    expect(await names()).to.deep.equal(['task.params.seconds']);
    await page.getByLabel('seconds').fill('many');
    await says('must be <= 600');
    await submit().click();
    await says('This is no number: many');
    await page.getByLabel('seconds').fill('1');
    await page.getByLabel('Id (').fill('film-1');
    await submit().click();
    await says(/task id conflict/);
    expect(await names()).to.deep.equal(['task.id']);
    await go('#/new-task');
    await page.getByLabel('Type', { exact: false }).first().fill('no type');
    await page.getByLabel('Group').fill('video');
    await page.getByLabel('Params').fill('{');
    await submit().click();
    await says(/^SyntaxError/);
    expect(await names()).to.deep.equal(['task.type', 'task.params']);

    await go('#/new-task?type=without');
    await page.getByLabel('Params').fill('{"a":1,}');
    await page.getByLabel('Group').fill('video');
    await submit().click();
    await page.getByText(/SyntaxError.*position 7/).waitFor();
    expect(await names()).to.deep.equal(['task.params']);
  });

  it('keeps what was typed while a login has ended', async () => {
    const { page, browser, go, says } = of();
    await go('#/new-task?type=kept');
    await page.getByLabel('Group').fill('video');
    await page.getByLabel('Params').fill('{"kept":true}');
    await browser.context.clearCookies();
    await submit().click();
    await says(/Your login has ended/);
    await logIn();
    await submit().click();
    await page.getByRole('region', { name: 'Params' }).getByText('"kept": true').waitFor();
    await page.goBack();
    await submit().waitFor();
    expect(await page.getByLabel('Group').inputValue()).to.equal('');
  });

  it('tells of what was refused though the question was left meanwhile, and asks nobody who has gone on', async () => {
    const { page, go, api, says } = of();
    const hold = async (url: string) => {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      await page.route(url, async (route) => {
        await released;
        await route.continue();
      });
      return release;
    };
    await api('POST', '/task/submit', {
      task: { id: 'left-1', type: 'nobody' },
      user: { group: 'video' },
    });
    await go('#/task/left-1');
    let release = await hold('**/task/left-1/suspend');
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await api('POST', '/task/left-1/cancel');
    release();
    await page.locator('.told').getByText('canceled').waitFor();

    await api('PUT', '/type/asked', {});
    await go('#/define/asked');
    await page.getByLabel('Owner').fill('media');
    release = await hold('**/type/asked?dry_run=true');
    const answered = page.waitForResponse('**/type/asked?dry_run=true');
    await page.getByRole('button', { name: 'See what differs' }).click();
    await go('#/types');
    release();
    await answered;
    await page.getByRole('heading', { name: 'Types', level: 1 }).waitFor();
    expect(await page.getByRole('dialog').count()).to.equal(0);
    await page.unrouteAll();
    await api('DELETE', '/type/asked');
    await says('film');
  });

  it('leaves the keyboard at the heading where the button that was pressed is gone', async () => {
    const { page, go, api } = of();
    const task = { id: 'focus-1', type: 'nobody' };
    await api('POST', '/task/submit', { task, user: { group: 'video' } });
    await go('#/task/focus-1');
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
    await page.locator('.head').getByRole('button', { name: 'Resume' }).waitFor();
    await page.locator('h1:focus').waitFor();
    await api('POST', '/task/focus-1/cancel');
  });

  it('takes what was just typed along to another state, and leaves it behind by Back', async () => {
    const { page, go } = of();
    await go('#/tasks?group=news');
    await page.getByLabel('Type', { exact: true }).fill('bulk');
    await page
      .getByRole('link', { name: /^Failed/ })
      .last()
      .click();
    await page.waitForURL('**/#/tasks?group=news&type=bulk&state=failed');
    await go('#/jobs');
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    await go('#/tasks?type=quick');
    await page.getByLabel('Group', { exact: true }).pressSequentially('half');
    await page.goBack();
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    expect(new URL(page.url()).hash).to.equal('#/jobs');
  });

  it('offers nothing to do with what is not there, and says so in the title', async () => {
    const { page, go, says } = of();
    for (const [hash, text] of [
      ['job/nope', 'There is no job nope.'],
      ['type/nope-type', 'Nobody knows of a type nope-type.'],
    ] as const) {
      await go(`#/${hash}`);
      await says(text);
      expect(await page.locator('.head .actions > *').count(), hash).to.equal(0);
    }
    await go('#/xyz');
    await says('There is no such page.');
    await eventually('the title says so', async () =>
      (await page.title()).startsWith('There is no such page.'),
    );
  });
}
