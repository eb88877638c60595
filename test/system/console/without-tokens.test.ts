/**
 * A master without tokens in a real browser: the pages of its documentation, and bookings with real executors, booked by a
 * form and seen in the calendar as they go.
 */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { BROWSER, RealBrowser } from '../../helpers/system/browser.ts';
import type { SystemProcess } from '../../helpers/system/process.ts';
import { System, user } from '../../helpers/system/system.ts';
import { itServesPages } from './docs.ts';

const of = { type: 'push', ...user };

describe(
  BROWSER === undefined ? 'no tokens (no browser here)' : 'a browser at a master without tokens',
  function () {
    let system: System;
    let browser: RealBrowser;
    let page: Page;
    const executors = new Map<string, SystemProcess>();

    before(async function () {
      if (BROWSER === undefined) return this.skip();
      system = await System.start({ databaseUrl: '' });
      for (const id of ['push-1', 'push-2']) {
        executors.set(id, await system.executor({ id, types: ['push'] }));
      }
      browser = await RealBrowser.start(BROWSER);
      page = browser.page;
    });
    after(async () => {
      await browser?.close();
      await system?.stop();
    });
    afterEach(function () {
      if (this.currentTest?.state === 'failed') process.stdout.write(system.report());
    });

    const go = (hash: string) => page.goto(`${system.url}/#/${hash}`);
    const says = (text: string | RegExp) => page.getByText(text).first().waitFor();
    const dialog = () => page.getByRole('dialog');
    const windowOf = (row: string) =>
      page.getByRole('region', { name: row, exact: true }).locator('.booked-window');
    /** As an input has it. */
    const local = (at: number) =>
      new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    /** A whole minute, in the future of all that follows. */
    const MINUTE = 60_000;
    const tomorrow = Math.ceil(Date.now() / MINUTE) * MINUTE + 24 * 60 * MINUTE;
    const bookIt = async (from: number, lengthMs: number, count: number) => {
      await page.locator('[name=type]').fill('push');
      await page.locator('[name=group]').fill(user.group);
      await page.locator('[name=from]').fill(local(from));
      await page.locator('[name=to]').fill(local(from + lengthMs));
      await page.locator('[name=count]').fill(String(count));
      await page.locator('main form').getByRole('button', { name: 'Book', exact: true }).click();
    };
    const idOf = async (fields: object) => {
      const asked = { ...of, from: tomorrow, to: tomorrow + 60 * MINUTE, ...fields };
      return (await system.client.bookings.create(asked)).booking_id;
    };

    itServesPages(() => ({ system, browser }));

    it('says why nobody is let in here, in place of loading for ever', async () => {
      const { port } = new URL(system.url);
      await page.goto(`http://soda.localhost:${port}/#/bookings`);
      await says('Without tokens, only a loopback Host is served.');
    });

    it('shows this day where the URL names none that there is', async () => {
      await go('bookings?view=day&on=2026-99-99');
      await page.getByRole('region', { name: 'Calendar of bookings' }).waitFor();
    });

    it('teaches how one is made where there is none', async () => {
      await go('bookings');
      await says('Nothing is booked here.');
      await says('soda booking create');
      await page.getByRole('link', { name: 'Book', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Book' }).waitFor();
    });

    it('books by a form, which windows that are free fill where it is refused', async () => {
      await go('book?type=push');
      await bookIt(tomorrow, 60 * MINUTE, 2);
      await page.getByRole('heading', { level: 1, name: /^bk-/ }).waitFor();
      await page.locator('.head').getByText('Planned').waitFor();
      await says('soda task submit --type push');

      await go('book');
      await bookIt(tomorrow + 30 * MINUTE, 60 * MINUTE, 1);
      const free = page.getByRole('group', { name: /^Free instead/ });
      await free.waitFor();
      await browser.expectAccessible('the form with what is free');
      // What is free stays, whatever is typed over what was asked for.
      await page.locator('[name=from]').fill('');
      await page.locator('[name=group]').press('Tab');
      await free.getByRole('button').last().waitFor();
      await free.getByRole('button').last().click();
      const from = await page.locator('[name=from]').inputValue();
      expect([local(tomorrow + 60 * MINUTE), local(tomorrow - 60 * MINUTE)]).to.include(from);
      await page.locator('main form').getByRole('button', { name: 'Book', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: /^bk-/ }).waitFor();
      const all: string[] = [];
      for await (const { booking_id: id } of system.client.bookings.list()) all.push(id);
      expect(all).to.have.length(2);
      for (const id of all) await system.client.bookings.cancel(id);
    });

    it('shows of one that is bound who has it, who cannot serve, and that another takes its place', async () => {
      const from = Date.now() + 10 * MINUTE;
      const id = await idOf({ from, to: from + 30 * MINUTE, count: 2, lead: 1_200 });
      await go('bookings?view=day&by=executor');
      for (const name of ['push-1', 'push-2']) await windowOf(name).first().waitFor();
      const label = await windowOf('push-1').first().getAttribute('aria-label');
      expect(label).to.match(/^tests, 2\/2, Bound, /);
      await browser.expectAccessible('a day by executor');

      await go(`booking/${id}`);
      await page.locator('.head').getByText('Bound').waitFor();
      const facts = page.locator('main dl');
      await facts.getByRole('link', { name: 'push-2' }).waitFor();
      expect(await page.getByText('Cannot serve').count()).to.equal(0);
      await executors.get('push-2')?.end('SIGKILL');
      await says('1 executor is missing');
      await says('Cannot serve');
      await says('push-2 not connected');
      await browser.expectAccessible('a booking in trouble');
      await go('bookings');
      await page.locator('.booked-troubles').getByText('1 executor is missing').waitFor();
      await page.getByRole('link', { name: /^tests, 1\/2, Bound, / }).waitFor();
      await browser.expectAccessible('the calendar with trouble');

      executors.set('push-3', await system.executor({ id: 'push-3', types: ['push'] }));
      await page.locator('.booked-troubles').waitFor({ state: 'detached' });
      await go(`booking/${id}`);
      await facts.getByRole('link', { name: 'push-3' }).waitFor();
      expect(await page.getByText('Cannot serve').count()).to.equal(0);
    });

    it('leaves out one window of a recurring one, and gives all of it up', async () => {
      const id = await idOf({
        from: tomorrow,
        to: tomorrow + 30 * MINUTE,
        every: 604_800,
        zone: 'Asia/Shanghai',
      });
      await go(`booking/${id}`);
      await says('Windows that follow');
      const rows = page.locator('main table tbody tr');
      await rows.first().waitFor();
      await rows.first().getByRole('button', { name: 'Leave out' }).click();
      await dialog().getByRole('button', { name: 'Leave out' }).click();
      await dialog().waitFor({ state: 'detached' });
      await says('Left out:');
      const { skipped } = await system.client.bookings.get(id);
      expect(skipped.map((at) => Date.parse(at))).to.deep.equal([tomorrow + 604_800_000]);
      await page.getByRole('button', { name: 'Cancel booking' }).click();
      await dialog().getByRole('button', { name: 'Cancel booking' }).click();
      await page.locator('.head').getByText('Cancelled').waitFor();
      await page.getByRole('button', { name: 'Cancel booking' }).waitFor({ state: 'detached' });
    });

    it('goes from week to day to list, to days before and after, and keeps its filters', async () => {
      await idOf({ maintenance: true, requires: ['executor:push-1'] });
      await go('bookings');
      await page.getByRole('heading', { name: 'Bookings' }).waitFor();
      await page.getByLabel('Group').fill('other');
      await page.keyboard.press('Enter');
      await says('Nothing is booked in this time.');
      await go('bookings?view=list');
      await page.getByRole('row', { name: /push/ }).first().waitFor();
      await browser.expectAccessible('the list');
      await go('bookings?view=day');
      await page.getByRole('link', { name: 'Later' }).click();
      await page.waitForURL(/on=\d{4}-\d\d-\d\d/);
      await page.getByRole('link', { name: /^Maintenance, ×1, Planned, / }).waitFor();
      await page.getByRole('link', { name: 'Today' }).click();
      await page.waitForURL((url) => !url.href.includes('on='));
    });

    it('is as good in Chinese, in the dark, and on a phone', async () => {
      const booking = (await system.client.bookings.list().next()).value;
      const hashes = [
        'bookings',
        'bookings?view=day',
        'bookings?view=list',
        'book',
        `booking/${booking?.booking_id}`,
      ];
      await page.getByLabel('Language').selectOption('zh');
      await page.getByLabel('颜色').selectOption('dark');
      for (const size of [
        { width: 1280, height: 800 },
        { width: 375, height: 812 },
      ]) {
        await page.setViewportSize(size);
        for (const hash of hashes) {
          await go(hash);
          await page.getByRole('heading', { level: 1 }).waitFor();
          await page.locator('.loading').first().waitFor({ state: 'detached' });
          await browser.expectAccessible(`${hash}, ${size.width} wide`);
          const width = await page.evaluate('document.documentElement.scrollWidth');
          expect(width, hash).to.equal(size.width);
        }
      }
      expect(browser.complaints).to.deep.equal([]);
    });
  },
);
