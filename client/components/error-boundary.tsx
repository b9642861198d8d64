// The error boundary: shows a fallback if a component throws in the browser. It imports no part of the page, because
// React remounts everything below a class that hot reload replaces.
import { Component, type ReactNode } from "react";

/** Has no effect on the server, where a component that throws causes a 500 response. */
export class ErrorBoundary extends Component<{ fallback: ReactNode; children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
