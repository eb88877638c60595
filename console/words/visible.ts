/**
 * Text of others cannot turn the direction of the page, nor have in it what nobody sees: in whatever is shown, both stand as
 * their escapes. What is typed, copied and sent stays as it is.
 */
import { type ComponentChildren, Fragment, options, type VNode } from 'preact';
import { visibleText } from '@soda-scheduler/protocol';

interface Shown {
  children?: ComponentChildren;
  title?: unknown;
}

/** Of everything that is made from here on. */
export function showHidden(): void {
  options.vnode = showWhole;
}

/** What is made of an element, or of what has none, before anybody sees it. */
export function showWhole({ type, props }: Pick<VNode, 'type' | 'props'>): void {
  if (typeof type !== 'string' && type !== Fragment) return;
  const shown = props as Shown;
  if (shown.children !== undefined) shown.children = visible(shown.children);
  if (typeof shown.title === 'string') shown.title = visibleText(shown.title);
}

function visible(children: ComponentChildren): ComponentChildren {
  if (typeof children === 'string') return visibleText(children);
  return Array.isArray(children) ? children.map(visible) : children;
}
