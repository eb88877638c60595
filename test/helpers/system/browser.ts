/** A real browser with one page: what it asks for, what it complains about, and whether everybody can read what it shows. */
import { expect } from 'chai';
import type axe from 'axe-core';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

/** Undefined: there is none on this machine. */
export const BROWSER = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(existsSync);

/** For a page: less than half of what a program would import, and each page is sent it and reads it. */
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

export class RealBrowser {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly complaints: string[] = [];
  /** The origins of all that was asked for. */
  readonly requested = new Set<string>();
  readonly close: () => Promise<void>;

  private constructor(context: BrowserContext, page: Page, close: () => Promise<void>) {
    this.context = context;
    this.page = page;
    this.close = close;
    page.setDefaultTimeout(30_000);
    page.on('console', (said) => {
      // What a browser says of an answer that was no is no complaint of the page.
      if (said.type() === 'error' && !/status of 4\d\d/.test(said.text())) {
        this.complaints.push(said.text());
      }
    });
    page.on('pageerror', ({ message }) => this.complaints.push(message));
    page.on('request', (request) => this.requested.add(new URL(request.url()).origin));
  }

  static async start(executablePath: string): Promise<RealBrowser> {
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    const viewport = { width: 1280, height: 800 };
    const context = await browser.newContext({ locale: 'en-GB', viewport });
    return new RealBrowser(context, await context.newPage(), () => browser.close());
  }

  /** @param what is shown, for the message. */
  async expectAccessible(what: string): Promise<void> {
    const { page } = this;
    // The policy of the page lets in no script of a page: this comes by the browser's own tools. It stays until a reload.
    if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
    const { violations } = await page.evaluate(() =>
      (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }),
    );
    const told = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    expect(told, what).to.deep.equal([]);
  }
}
