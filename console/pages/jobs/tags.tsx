/** Tags of a job, each a link to the jobs that have it too. */
interface Props {
  readonly of: readonly string[];
  readonly linkTo: (tag: string) => string;
}

export function Tags({ of: tags, linkTo }: Props) {
  if (tags.length === 0) return null;
  return (
    <span class="tags">
      {tags.map((tag) => (
        <a key={tag} class="tag" href={linkTo(tag)}>
          {tag}
        </a>
      ))}
    </span>
  );
}
