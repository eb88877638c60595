/** What grows while people read it: the feed of events, and logs. */
import type { FeedLevel } from '../../../domain/feed/feed-event.ts';
import type { NamespaceRoute } from '../../http/route.ts';
import { eventRoutes } from './events.ts';
import type { Followers } from './followers.ts';
import { logSearchRoute } from './log-search.ts';
import { logRoutes } from './logs.ts';

/** @param level What the feed tells. */
export function feedRoutes(followers: Followers, level: FeedLevel): NamespaceRoute[] {
  return [...eventRoutes(followers, level), ...logRoutes(followers), logSearchRoute];
}
