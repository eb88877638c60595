/**
 * A master that counts no usage, to see what that costs: as `master.ts`, but what steps call for it does nothing.
 * No setting does that, and a report of such a master says nothing.
 */
import { register } from 'node:module';

register('./uncounted-hooks.ts', import.meta.url);
await import('../master.ts');
const counting = new URL('domain/usage/count.js', import.meta.resolve('@soda-scheduler/master'));
const { countsNothing } = (await import(counting.href)) as { readonly countsNothing?: true };
if (!countsNothing) throw new Error(`${counting.href} was not left out`);
