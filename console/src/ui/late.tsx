import { type ReactNode, useEffect, useState } from "react";

/** Shows its content only after 300 ms, so that a fast answer shows no placeholder. */
export function Late({ children }: { children: ReactNode }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return isLate ? children : null;
}
