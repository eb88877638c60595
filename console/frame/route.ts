/** Goes to places, and tells where one is. */
import { useEffect, useState } from 'preact/hooks';
import { hrefOf, type Place, type PlaceLike, placeOf } from './place.ts';

export function go(place: PlaceLike): void {
  window.location.hash = hrefOf(place);
}

/** Tells later whether one is still where one is now: whoever has gone on is not pulled along by a late answer. */
export function staying(): () => boolean {
  const { hash } = window.location;
  return () => window.location.hash === hash;
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(window.location.hash));
  useEffect(() => {
    const follow = (): void => setPlace(placeOf(window.location.hash));
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  return place;
}
