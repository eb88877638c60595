/** What the parts of `browser.test.ts` find there: its browser, its master, and how to get about in the console. */
import type { Page } from 'playwright-core';
import type { RealBrowser } from '../../helpers/system/browser.ts';
import type { System } from '../../helpers/system/system.ts';

export interface Console {
  readonly system: System;
  readonly browser: RealBrowser;
  readonly page: Page;
  readonly go: (hash: string) => Promise<unknown>;
  readonly says: (text: string | RegExp) => Promise<void>;
  readonly api: (
    method: string,
    path: string,
    body?: unknown,
    token?: string,
  ) => Promise<Record<string, unknown>>;
}
