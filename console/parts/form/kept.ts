/**
 * What was typed into a page, kept while a login has ended: a login by the same token goes on with it. Only in
 * memory, and only until another page is shown.
 */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { useFrame } from '../../frame/context.ts';

const kept = new Map<string, unknown>();

/** Stands once, outside of what a login opens. */
export function useForgetting(): void {
  useEffect(() => {
    const forget = (): void => kept.clear();
    window.addEventListener('hashchange', forget);
    return () => window.removeEventListener('hashchange', forget);
  }, []);
}

/** As `useState`, over a login. @param what no other of the page is called so. */
export function useKept<T>(what: string, initial: T) {
  const { me, place } = useFrame();
  const [key] = useState(() => JSON.stringify([me.name, place, what]));
  const [first] = useState(initial);
  const state = useState<T>(() => (kept.has(key) ? (kept.get(key) as T) : initial));
  const [value] = state;
  useLayoutEffect(() => {
    if (value !== first) kept.set(key, value);
  }, [value]);
  return state;
}
