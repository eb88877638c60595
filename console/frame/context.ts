/** What all parts of a page may ask for: who is here, where, and in which words. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Whoami } from '@soda-scheduler/protocol';
import { type About, may, type RouteName } from '../api/me.ts';
import { hrefOf, type Place, type PlaceLike } from './place.ts';

export interface Frame {
  readonly me: Whoami;
  readonly place: Place;
  /** Raised whenever the feed tells of something. */
  readonly newsCount: number;
  /** Of times: since then, or as on the clock. */
  readonly hasClockTimes: boolean;
  /** The saved view with which the tasks of this namespace are opened; null: all of them are shown. */
  readonly firstView: string | null;
  readonly setFirstView: (name: string | null) => void;
}

export const FrameContext = createContext<Frame | null>(null);

export function useFrame(): Frame & {
  readonly may: (route: RouteName, about?: About) => boolean;
  /** To a page of this namespace. */
  readonly link: (
    page: string,
    name?: string | null,
    query?: NonNullable<PlaceLike['query']>,
  ) => string;
  /** As the menu and the keyboard open it. */
  readonly opening: (page: string) => string;
} {
  const frame = useContext(FrameContext);
  if (frame === null) throw new Error('outside of the frame');
  const { firstView, place } = frame;
  const { namespace } = place;
  return {
    ...frame,
    may: (route, about) => may(frame.me, route, about),
    link: (page, name = null, query = {}) => hrefOf({ namespace, page, name, query }),
    opening: (page) => {
      const view = page === 'tasks' && firstView !== null ? { view: firstView } : {};
      return hrefOf({ namespace, page, query: view });
    },
  };
}
