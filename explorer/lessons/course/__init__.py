"""The lessons of the course: one file each, with exercises, hints, solutions and wrong answers.

Their notebooks are in `notebooks/`, numbered in the order of `explorer.lessons.COURSE`.
"""
