import type { ComponentChildren, JSX } from 'preact';
import { usePage } from './context.js';

interface LinkProps {
  readonly href: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly label?: string | undefined;
  readonly current?: boolean;
}

/** A link to a URL of the API, which opens in this page unless another tab or window is requested. */
export function Link({ href, children, label, current, ...rest }: LinkProps): JSX.Element {
  const { navigate } = usePage();
  return (
    <a
      href={href}
      class={rest.class}
      aria-label={label}
      aria-current={current === true ? 'page' : undefined}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        navigate(href);
      }}
    >
      {children}
    </a>
  );
}
