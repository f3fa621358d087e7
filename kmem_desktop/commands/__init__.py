"""The commands of `kmem` besides the bridge; each prints for people, or JSON with `--json`."""
