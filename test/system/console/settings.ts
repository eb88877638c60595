/** What can be set from the console, for `browser.test.ts`: with its browser, its master and what there is already. */
import { expect } from 'chai';
import type { Console } from './console.ts';

/** @param hostile what would do harm if it were not only shown. */
export function itSets(of: () => Console, hostile: string): void {
  const inDialog = (name: string) => of().page.getByRole('dialog').getByRole('button', { name });
  const closed = () => of().page.getByRole('dialog').waitFor({ state: 'detached' });

  const field = (name: string) => of().page.locator(`dialog [name="${name}"]`);

  it('pauses a type, with a reason, and says so', async () => {
    const { page, go, says, api } = of();
    await go('#/types');
    await page.getByRole('link', { name: 'film', exact: true }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByLabel('Reason').fill('new codec');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.locator('.remark').getByText('new codec').waitFor();
    await page.getByRole('button', { name: 'Override the limit' }).click();
    await page.getByLabel('Tasks that may run').fill('2');
    await page.getByLabel('Reason').fill('live event');
    await page.getByRole('dialog').getByRole('button', { name: 'Override' }).click();
    await says('live event');
    const held = async () =>
      ((await api('GET', '/type/film')) as { overrides: [{ limits: object; until: string }] })
        .overrides[0];
    expect((await held()).limits).to.deep.equal({ max_running: 2 });

    // What nobody has touched stays, to the second.
    const until = '2099-11-25T10:20:30.000Z';
    await api('PUT', '/type/film/override', { limits: { max_running: 2 }, reason: 'so', until });
    await page.reload();
    await page.getByRole('button', { name: 'Override the limit' }).click();
    expect(await field('until').inputValue()).to.match(/^2099-11-2\dT\d\d:20$/);
    await page.getByLabel('Tasks that may run').fill('3');
    await page.getByLabel('Reason').fill('a longer event');
    await page.getByRole('dialog').getByRole('button', { name: 'Override' }).click();
    await says('a longer event');
    expect(await held()).to.deep.include({ limits: { max_running: 3 }, until });
  });

  it('makes a token, shows it once, and revokes it', async () => {
    const { page, go, says, api } = of();
    await go('#/tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    await field('name').fill('carol');
    await field('scope.groups').fill('news sport');
    await page.getByRole('dialog').getByRole('button', { name: 'New token' }).click();
    const token = await page.locator('.remark code').innerText();
    const who = await api('GET', '/whoami', undefined, token);
    expect(who).to.deep.include({ name: 'carol', scope: { groups: ['news', 'sport'] } });
    await page.reload();
    const row = page.getByRole('row', { name: /carol/ });
    await row.waitFor();
    expect(await page.getByText(token).count()).to.equal(0);
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    await go('#/audit?action=token');
    await says('token.revoke');
  });

  it('sets a rule of alerts: what is wrong stands beside its field, and the default comes back', async () => {
    const { page, go, api, browser } = of();
    await go('#/alert-rules');
    const row = page.getByRole('row', { name: /^backlog / });
    await row.getByRole('button', { name: 'Change' }).click();
    await browser.expectAccessible('a rule');
    expect(await field('threshold').getAttribute('placeholder')).to.equal('100000');
    await field('threshold').fill('-7');
    await inDialog('Change').click();
    await page.getByText('Nothing was done').waitFor();
    const wrong = page.locator('[aria-invalid=true]');
    expect(await wrong.getAttribute('name')).to.equal('threshold');
    expect(await wrong.evaluate('document.activeElement.name')).to.equal('threshold');
    await wrong.fill('7');
    await inDialog('Change').click();
    await row.getByText('7 tasks').waitFor();
    await row.getByText('Changed').waitFor();
    await row.getByRole('button', { name: 'Back to default' }).click();
    await inDialog('Back to default').click();
    await row.getByText('100,000 tasks').waitFor();

    await page.getByRole('button', { name: 'New rule' }).click();
    await field('name').fill('live-waits');
    await field('kind').selectOption('oldest_wait');
    await field('threshold').fill('5400');
    await page.getByText('s = 1 h 30 min').waitFor();
    await field('scope.types').fill('film song');
    await inDialog('New rule').click();
    await page.getByRole('row', { name: /^live-waits / }).waitFor();
    const { rules } = (await api('GET', '/alert-rules')) as { rules: { name: string }[] };
    expect(rules.find(({ name }) => name === 'live-waits')).to.deep.include({
      kind: 'oldest_wait',
      threshold: 5400,
      scope: { types: ['film', 'song'] },
      reasons: ['all_busy'],
      repeat: 14_400,
    });
  });

  it('sets a receiver, shows nothing of its secrets, and what it has answered', async () => {
    const { page, go, system } = of();
    const url = system.receiver.url('secret-path');
    await go('#/alert-receivers');
    await page.getByRole('button', { name: 'New receiver' }).click();
    await field('name').fill('ops');
    await field('channel').selectOption('webhook');
    await field('url').fill(url);
    await field('secret').fill('whsec_short');
    await inDialog('New receiver').click();
    await page.getByText(/expected `whsec_` and 24/).waitFor();
    await field('secret').fill(`whsec_${Buffer.alloc(24, 1).toString('base64')}`);
    await inDialog('New receiver').click();
    const row = page.getByRole('row', { name: /^ops / });
    await row.getByRole('button', { name: 'Send a test' }).click();
    await inDialog('Send a test').click();
    await page.getByText('ops has taken the test.').waitFor();
    await row.getByRole('button', { name: 'Change' }).click();
    await page.getByText(`Now ${new URL(url).origin}/***`).waitFor();
    expect(await page.content()).to.not.match(/secret-path|whsec_/);
    await field('url').fill('http://127.0.0.1:1/gone');
    await inDialog('Change').click();
    await closed();
    await row.getByRole('button', { name: 'Send a test' }).click();
    await inDialog('Send a test').click();
    await page.getByText('ops has not taken the test:').waitFor();
    await row.getByRole('button', { name: 'Delete' }).click();
    await inDialog('Delete').click();
    await row.waitFor({ state: 'detached' });
  });

  it('silences an alert for a while, says why, and ends that', async () => {
    const { page, go, api } = of();
    await api('POST', '/alert', { message: hostile, fields: { host: hostile } });
    await go('#/alerts');
    const row = page.getByRole('row').filter({ hasText: '<img src=x' });
    await row.getByRole('button', { name: 'Silence' }).click();
    await field('for').selectOption('3600');
    await page.getByLabel('Reason').fill(`known ${hostile}`);
    await inDialog('Silence').click();
    await row.getByText(/Silent until .*known <img/).waitFor();
    await row.getByRole('button', { name: 'End silence' }).click();
    await inDialog('End silence').click();
    await row.getByRole('button', { name: 'Silence', exact: true }).waitFor();
  });

  it('changes a definition, once what differs was seen, and not over a change of somebody else', async () => {
    const { page, go, says, api } = of();
    await go('#/type/film');
    await page.getByRole('link', { name: 'Change definition' }).click();
    await page.getByLabel('Tasks that may run').fill('-3');
    await page.getByRole('button', { name: 'See what differs' }).click();
    await page.locator('[name="limits.max_running"][aria-invalid=true]').fill('3');
    await page.getByLabel('Weights of groups').fill('news=3');
    await page.getByLabel('Groups', { exact: true }).selectOption('group');
    await page.getByRole('button', { name: 'As JSON' }).click();
    const json = page.getByLabel('The whole definition, as JSON');
    expect(await json.inputValue()).to.match(/"params_schema"[^]*"max_running": 3[^]*"news": 3/);
    await page.getByRole('button', { name: 'As a form' }).click();
    await page.getByRole('button', { name: 'See what differs' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('limits.max_running').waitFor();
    expect(await dialog.locator('li').allInnerTexts()).to.deep.equal([
      'limits.max_running\nnot set → 3',
      'fair_by\nnot set → "group"',
      'group_weights.news\nnot set → 3',
    ]);
    const { params_schema: schema } = await api('GET', '/type/film');
    await api('PUT', '/type/film', { owner: hostile, params_schema: schema });
    await inDialog('Save').click();
    await says(/the type is at version \d+, not \d+/);
    await inDialog('Leave it').click();
    await page.getByRole('button', { name: 'Begin again' }).click();
    expect(await page.getByLabel('Owner').inputValue()).to.equal(hostile);
    await page.getByLabel('Tasks that may run').fill('4');
    await page.getByRole('button', { name: 'See what differs' }).click();
    await inDialog('Save').click();
    await page.getByRole('heading', { name: 'film', exact: true }).waitFor();
    expect(await api('GET', '/type/film')).to.deep.include({
      limits: { max_running: 4 },
      params_schema: schema,
      owner: hostile,
    });
  });

  it('sets a shared limit, and tells what takes of it and which values hold tasks back', async () => {
    const { page, go, api } = of();
    await go('#/limits');
    await page.getByRole('button', { name: 'New limit' }).click();
    await field('name').fill('drm');
    await field('max').fill('2');
    await field('per').selectOption('label');
    await field('label').fill('rack');
    await inDialog('New limit').click();
    await page.getByRole('row', { name: /^drm 0 2 for each label rack:/ }).waitFor();
    const uses = [{ limit: 'drm', n: 2 }];
    await api('PUT', '/type/keyed', { uses, limits: { concurrency: { pointer: '/in', max: 1 } } });
    for (const id of ['key-1', 'key-2']) {
      const task = { id, type: 'keyed', params: { in: hostile } };
      await api('POST', '/task/submit', { task, user: { group: 'video' } });
    }
    await page.getByRole('link', { name: 'drm', exact: true }).click();
    await page.getByRole('row', { name: /^keyed 2 0 1/ }).waitFor();
    await go('#/one-at-a-time');
    await page.getByRole('row', { name: /<img src=x.* keyed .*key-1.* 1$/ }).waitFor();
    await api('DELETE', '/type/keyed?force=true');
    await go('#/limits');
    const row = page.getByRole('row', { name: /^drm / });
    await row.getByRole('button', { name: 'Delete' }).click();
    await inDialog('Delete').click();
    await row.waitFor({ state: 'detached' });
  });

  it('pauses a group, and ends that from the list of what is paused', async () => {
    const { page, go } = of();
    await go('#/pauses');
    await page.getByRole('button', { name: 'Pause …' }).click();
    await field('value').fill('sport');
    await page.getByLabel('Reason').fill(hostile);
    await inDialog('Pause').click();
    const row = page.getByRole('row', { name: /^Group sport <img/ });
    await row.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('heading', { name: 'End the pause of Group sport?' }).waitFor();
    await inDialog('Resume').click();
    await row.waitFor({ state: 'detached' });
  });
}
