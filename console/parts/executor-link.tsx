/** The name of an executor, as a link for whoever may see executors. */
import { useFrame } from '../frame/context.ts';

export function ExecutorLink({ id }: { readonly id: string | null }) {
  const { link, may } = useFrame();
  if (id === null) return null;
  return may('GET /executors') ? (
    <a class="id" href={link('executor', id)}>
      {id}
    </a>
  ) : (
    <span class="id">{id}</span>
  );
}
