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
} {
  const frame = useContext(FrameContext);
  if (frame === null) throw new Error('outside of the frame');
  const { namespace } = frame.place;
  return {
    ...frame,
    may: (route, about) => may(frame.me, route, about),
    link: (page, name = null, query = {}) => hrefOf({ namespace, page, name, query }),
  };
}
