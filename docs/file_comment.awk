# A comment above the namespace is about the file; Doxygen needs to be told.
{ line[NR] = $0 }
/^(namespace|#include)/ && line[NR - 1] ~ /^\/\/\// {
  first = NR - 1
  while (line[first - 1] ~ /^\/\/\//) --first
  if (line[first - 1] == "") line[first - 1] = "/// \\file"
}
END { for (k = 1; k <= NR; ++k) print line[k] }
