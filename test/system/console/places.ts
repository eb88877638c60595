/** Part of `browser.test.ts`: where one is, in what one comes back to, in other tabs, on a phone, and where nothing is. */
import { expect } from 'chai';
import type { Console } from './console.ts';

/** @param of once the tests run; @param logIn by the form that is shown. */
export function itKeepsPlaces(of: () => Console, logIn: () => Promise<void>): void {
  it('comes back to where one was in a list, and begins at the top of what is new', async () => {
    const { page, go } = of();
    const downBy = () => page.evaluate<number>('window.scrollY');
    await go('#/tasks?type=paged');
    const last = page.getByRole('link', { name: 'page-6', exact: true });
    await last.scrollIntoViewIfNeeded();
    await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
    const left = await downBy();
    expect(left).to.be.above(300);
    await last.click();
    await page.getByRole('heading', { name: 'page-6', exact: true }).waitFor();
    expect(await downBy()).to.equal(0);
    // The rows are asked for anew, and are not there at once.
    await page.goBack();
    await page.evaluate(
      `new Promise((resolve) => {
        const look = () => (Math.abs(scrollY - ${left}) < 3 ? resolve() : requestAnimationFrame(look));
        look();
      })`,
    );
    await page.goForward();
    await page.getByRole('heading', { name: 'page-6', exact: true }).waitFor();
    expect(await downBy()).to.equal(0);
  });

  it('shows a task on a phone with all that the list has of it', async () => {
    const { page, go } = of();
    await page.setViewportSize({ width: 390, height: 844 });
    await go('#/tasks?type=paged');
    const row = page.getByRole('row', { name: /page-6/ });
    await row.waitFor();
    for (const cell of await row.locator('td:not(:empty)').all()) {
      expect(await cell.isVisible(), await cell.innerText()).to.equal(true);
    }
    expect(await row.innerText())
      .to.include('paged')
      .and.include('video');
    await page.getByLabel('Choose all of this page').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(390);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('says that there is nothing of a name, and leads to the list', async () => {
    const { page, go, says } = of();
    const texts = {
      operation: 'There is no operation nope',
      executor: 'There is no executor nope',
      task: 'There is no task nope',
      job: 'There is no job nope',
      type: 'Nobody knows of a type nope',
      limit: 'There is no shared limit nope',
      calendar: 'There is no calendar nope',
    };
    for (const [kind, text] of Object.entries(texts)) {
      await go(`#/${kind}/nope`);
      await says(text);
      const link = page.locator('main').getByRole('link', { name: /^To the list/ });
      expect(await link.getAttribute('href')).to.equal(`#/${kind}s`);
      expect(await page.getByRole('alert').count(), kind).to.equal(0);
    }
  });

  it('has no page of a name that every object has', async () => {
    const { page, go } = of();
    for (const hash of ['constructor', 'constructors/x']) {
      await go(`#/${hash}`);
      await page.getByRole('heading', { name: 'There is no such page.', level: 1 }).waitFor();
    }
    await go('#/tasks?state=constructor');
    await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor();
    await page.locator('.bulk').getByRole('button', { name: 'Retry' }).waitFor();
    await go('#/tasks');
  });

  it('says that a page cannot be shown, and goes on to others', async () => {
    const { page, browser, go } = of();
    const before = browser.complaints.length;
    // As no master of this version answers.
    await page.route('**/scheduler/v2/operations*', (route) =>
      route.fulfill({ json: { operations: [null] } }),
    );
    await go('#/operations');
    await page.getByRole('heading', { name: /^Something here cannot be shown/ }).waitFor();
    await browser.expectAccessible('a page that cannot be shown');
    // Whoever looks into it finds what it was.
    expect(browser.complaints.splice(before).join(' ')).to.include('operation_id');
    await page.unroute('**/scheduler/v2/operations*');
    await page.getByRole('button', { name: 'Load again' }).click();
    await page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor();
    await go('#/tasks');
    await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor();
  });

  it('has the namespace in the commands that it shows', async () => {
    const { page, go, api } = of();
    await api('PUT', '/namespace/empty', {});
    await go('#/ns/empty/tasks');
    const command = page.getByRole('region', { name: 'Command' });
    await command.getByText('/scheduler/v2/ns/empty/task/submit').waitFor();
    await go('#/ns/empty/jobs');
    await command.getByText("soda job apply -f - --namespace empty <<'EOF'").waitFor();
    await go('#/ns/empty/limits');
    await command.getByText('--max 10 --namespace empty').waitFor();
    // What one looks at is none of another namespace: the list is there too.
    await go('#/ns/empty/job/nope');
    await page.getByLabel('Namespace', { exact: true }).selectOption('default');
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
    expect(new URL(page.url()).hash).to.equal('#/jobs');
    await go('#/limits');
    await api('DELETE', '/namespace/empty');
  });

  it('goes on in every tab once somebody has logged in again in one', async () => {
    const { page, go, browser, system } = of();
    await go('#/tasks?type=paged');
    const other = await browser.context.newPage();
    await other.goto(`${system.url}/#/tasks?type=paged`);
    await other.getByRole('link', { name: 'page-6', exact: true }).waitFor();
    await browser.context.clearCookies();
    for (const one of [page, other]) await one.getByText(/Your login has ended/).waitFor();
    await logIn();
    await other.getByRole('link', { name: 'page-6', exact: true }).waitFor();
    await other.close();
    await page.getByRole('link', { name: 'page-6', exact: true }).waitFor();
  });
}
