/** What a list is looked through by: it stands in the URL, and what has been typed counts once that is done. */
import type { ComponentChildren } from 'preact';
import { t, type TextName } from '../words/words.ts';
import { localOf } from './form/fields.ts';
import { typeOf } from './form/form.tsx';

export type Filters = Readonly<Record<string, string>>;
/** Empty or undefined takes a filter out. */
export type Changed = Readonly<Record<string, string | undefined>>;

export interface Search {
  readonly filters: Filters;
  /** To the first page with other filters. */
  readonly linkTo: (changed: Changed) => string;
  /** The same by the URL of this moment: what has just been typed stands there before the page has followed. */
  readonly linkNow: (changed: Changed) => string;
  /** Goes there; not from where one is no more. */
  readonly change: (changed: Changed) => void;
}

export function FilterForm({ children }: { readonly children: ComponentChildren }) {
  return (
    <form class="filters" aria-label={t('filters')} onSubmit={(event) => event.preventDefault()}>
      {children}
    </form>
  );
}

interface FilterProps {
  readonly name: string;
  readonly label: TextName;
  readonly of: Search;
}

/** Applied by Enter, or when one goes on to the next. */
export function TextFilter({
  name,
  label,
  of: { filters, change },
  kind = 'text',
}: FilterProps & { readonly kind?: 'text' | 'number' }) {
  const applied = filters[name] ?? '';
  return (
    <label class="filter">
      <span>{t(label)}</span>
      <input
        key={applied}
        {...typeOf(kind)}
        defaultValue={applied}
        spellcheck={false}
        autocomplete="off"
        onChange={({ currentTarget: { value } }) =>
          value !== applied && change({ [name]: value.trim() })
        }
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && currentTarget.blur()}
      />
    </label>
  );
}

interface ChoiceProps extends FilterProps {
  readonly choices: readonly string[];
  readonly inWords: (choice: string) => string;
}

export function ChoiceFilter({ name, label, of, choices, inWords }: ChoiceProps) {
  return (
    <label class="filter">
      <span>{t(label)}</span>
      <select
        value={of.filters[name] ?? ''}
        onChange={({ currentTarget }) => of.change({ [name]: currentTarget.value })}
      >
        <option value="">–</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {inWords(choice)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Applied by Enter, or when one goes on to the next: the browser tells of each part that is typed. */
export function InstantFilter({ name, label, of: { filters, change } }: FilterProps) {
  const applied = localOf(filters[name]);
  return (
    <label class="filter">
      <span>{t(label)}</span>
      <input
        key={applied}
        type="datetime-local"
        defaultValue={applied}
        onBlur={({ currentTarget: { value } }) =>
          value !== applied &&
          change({ [name]: value === '' ? undefined : new Date(value).toISOString() })
        }
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && currentTarget.blur()}
      />
    </label>
  );
}

interface TabsProps<State> {
  readonly of: readonly State[];
  /** What they are, for whoever cannot see them. Default: states. */
  readonly label?: string;
  readonly current: string | undefined;
  readonly linkTo: (state: State) => string;
  /** Where it leads as it is followed. Default: there. */
  readonly linkNow?: (state: State) => string;
  readonly children: (state: State) => ComponentChildren;
}

/** States, or the like, of which one is looked at. */
export function Tabs<State extends string | undefined>(props: TabsProps<State>) {
  const { of: states, label = t('state'), current, linkTo, linkNow = linkTo, children } = props;
  return (
    <nav class="tabs" aria-label={label}>
      {states.map((state) => (
        <a
          key={state}
          href={linkTo(state)}
          onClick={({ currentTarget }) => currentTarget.setAttribute('href', linkNow(state))}
          aria-current={state === current ? 'true' : undefined}
        >
          {children(state)}
        </a>
      ))}
    </nav>
  );
}
