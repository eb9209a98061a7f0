import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface OpenButtonProps {
  readonly label: string;
  /** Whether the form is open, which has its own buttons. */
  readonly isOpen: boolean;
  readonly isMain?: boolean;
  open(): void;
}

/** Opens a form. While it is open, the button is disabled at its place; after it the button has the focus again. */
export function OpenButton({ label, isOpen, isMain = false, open }: OpenButtonProps): JSX.Element {
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (wasOpen.current && !isOpen) button.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return (
    <button ref={button} type="button" class={isMain ? 'main' : undefined} disabled={isOpen} onClick={open}>
      {label}
    </button>
  );
}
