extern "C" const char blob[];
int main() {
  return blob[0] == 0;
}
