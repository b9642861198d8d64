// Shows a fallback if a component throws in the browser.
import { Component, type ReactNode } from "react";

// In a file that imports no part of the page: when hot reload replaces a class, React remounts what is below it.
/** On the server a throwing component has no boundary: the response is a 500. */
export class ErrorBoundary extends Component<{ fallback: ReactNode; children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
