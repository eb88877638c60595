/** Links to pages of the namespace that is looked at. */
import type { ComponentChildren } from 'preact';
import { useFrame } from '../frame/context.ts';
import type { PlaceLike } from '../frame/place.ts';

interface Props {
  /** The page. */
  readonly to: string;
  /** Of what is looked at. */
  readonly name?: string;
  readonly query?: NonNullable<PlaceLike['query']>;
  /** Default: the name. */
  readonly children?: ComponentChildren;
}

export function Link({ to, name, query, children = name }: Props) {
  const { link } = useFrame();
  return <a href={link(to, name ?? null, query)}>{children}</a>;
}

/** The name of an executor, as a link for whoever may see executors. */
export function ExecutorLink({ id }: { readonly id: string | null }) {
  const { may } = useFrame();
  if (id === null) return null;
  return <span class="id">{may('GET /executors') ? <Link to="executor" name={id} /> : id}</span>;
}
